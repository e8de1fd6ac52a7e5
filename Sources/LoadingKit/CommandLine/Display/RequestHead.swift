import Foundation
import LoadingKit

/// The head of a request in the output of `-v`: the request's own content, before a connection has determined the
/// protocol version. The session adds the fields that concern the connection.
struct RequestHead {
    let verbose: String

    init(_ request: URLRequest) {
        let lines = Self.lines(of: request)
        verbose = lines.map { "> \(PlainText.line($0))\n" }.joined() + ">\n"
    }

    private static func lines(of request: URLRequest) -> [String] {
        let method = request.httpMethod ?? "GET"
        guard let url = request.url else { return [method] }
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            return ["\(method) \(url.absoluteString)"]
        }
        let path = url.path(percentEncoded: true)
        let query = url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        let fields = (request.allHTTPHeaderFields ?? [:]).map { "\($0): \(shown($1, of: $0))" }.sorted()
        let host = request.value(forHTTPHeaderField: "Host") == nil ? ["Host: \(authority(of: url))"] : []
        let body = request.httpBody.map { ["Content-Length: \($0.count)"] } ?? []
        return ["\(method) \(path.isEmpty ? "/" : path)\(query)"] + host + fields + body
    }

    private static func authority(of url: URL) -> String {
        let host = url.host(percentEncoded: false) ?? ""
        let bracketed = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return bracketed + (url.port.map { ":\($0)" } ?? "")
    }

    /// The output may be copied into a report for others.
    private static func shown(_ value: String, of name: String) -> String {
        let isSecret = ["authorization", "cookie", "proxy-authorization"].contains(name.lowercased())
        return isSecret ? "(not shown)" : value
    }
}
