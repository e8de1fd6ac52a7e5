import Foundation
import LoadingKit

/// The head of a response as text: for HTTP as it was received, for other schemes the known properties of the body.
struct ResponseHead {
    private let lines: [String]

    /// - Parameter reason: the reason phrase that was received; nil for the usual one.
    init(_ response: URLResponse, reason: String? = nil) {
        lines = (response as? HTTPURLResponse).map { Self.lines(of: $0, reason) } ?? Self.lines(of: response)
    }

    /// The head with the final empty line, as in the output of `-i`.
    var bytes: String { lines.map { "\($0)\r\n" }.joined() + "\r\n" }

    /// The head as in the output of `-i` on a terminal.
    func shown(on terminal: Terminal) -> String { lines.map { "\(MessageText.line($0, terminal))\n" }.joined() + "\n" }

    /// The head as in the output of `-v`.
    func verbose(_ terminal: Terminal = .plain) -> String {
        lines.map { "< \(MessageText.line($0, terminal))\n" }.joined() + "<\n"
    }

    private static func lines(of response: HTTPURLResponse, _ reason: String?) -> [String] {
        let status = reason.map { $0.isEmpty ? "\(response.statusCode)" : "\(response.statusCode) \($0)" }
        return ["\(response.httpVersion) \(status ?? response.statusText)"]
            + response.headerFields.map { "\($0.name): \($0.value)" }
    }

    private static func lines(of response: URLResponse) -> [String] {
        let charset = response.textEncodingName.map { "; charset=\($0)" } ?? ""
        let type = response.mimeType.map { "Content-Type: \($0)\(charset)" }
        let length = response.expectedContentLength
        return [type, length >= 0 ? "Content-Length: \(length)" : nil].compactMap { $0 }
    }
}
