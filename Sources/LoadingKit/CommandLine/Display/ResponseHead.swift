import Foundation
import LoadingKit

/// The head of a response as text: for HTTP as on the wire, for other schemes the known properties of the body.
struct ResponseHead {
    private let lines: [String]

    init(_ response: URLResponse) {
        lines = (response as? HTTPURLResponse).map(Self.lines(of:)) ?? Self.lines(of: response)
    }

    /// The head with the final empty line, as in the output of `-i`.
    var bytes: String { lines.map { "\($0)\r\n" }.joined() + "\r\n" }

    /// The head as in the output of `-v`.
    var verbose: String { lines.map { "< \(PlainText.line($0))\n" }.joined() + "<\n" }

    /// The status, such as `404 Not Found`.
    static func status(of response: HTTPURLResponse) -> String {
        "\(response.statusCode) \(HTTPURLResponse.localizedString(forStatusCode: response.statusCode))"
    }

    private static func lines(of response: HTTPURLResponse) -> [String] {
        let fields = response.allHeaderFields.map { "\($0.key.base): \($0.value)" }
        return ["\(response.httpVersion) \(status(of: response))"] + fields.sorted()
    }

    private static func lines(of response: URLResponse) -> [String] {
        let charset = response.textEncodingName.map { "; charset=\($0)" } ?? ""
        let type = response.mimeType.map { "Content-Type: \($0)\(charset)" }
        let length = response.expectedContentLength
        return [type, length >= 0 ? "Content-Length: \(length)" : nil].compactMap { $0 }
    }
}
