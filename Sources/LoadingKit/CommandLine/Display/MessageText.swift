import Foundation
import LoadingKit

/// The heads of messages as `-v` shows them.
enum MessageText {
    /// The head of a request as it was sent, with `> ` before each line.
    static func sent(_ lines: [String], _ terminal: Terminal = .plain) -> String {
        lines.map { "> \(line(withoutSecret($0), terminal))\n" }.joined() + ">\n"
    }

    /// A line of a head, escaped, in colours where the terminal has them.
    static func line(_ line: String, _ terminal: Terminal) -> String {
        let text = PlainText.line(line)
        let words = text.split(separator: " ", maxSplits: 1)
        guard let first = words.first else { return text }
        // The fields of HTTP/2 that begin with a colon have another one.
        if let colon = first.dropFirst().firstIndex(of: ":") {
            return terminal.paint(String(text[..<colon]), .cyan) + text[colon...]
        }
        guard first.hasPrefix("HTTP/"), words.count == 2 else { return terminal.paint(text, .bold) }
        let styles: [Character: Terminal.Style] = ["2": .green, "3": .yellow, "4": .red, "5": .red]
        return "\(first) " + terminal.paint(String(words[1]), words[1].first.flatMap { styles[$0] } ?? .bold)
    }

    /// The output may be copied into a report for others: credentials and cookies are left out, an authentication's scheme
    /// is not.
    static func withoutSecret(_ line: String) -> String {
        guard let colon = line.firstIndex(of: ":") else { return line }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        switch line[..<colon].lowercased() {
        case "authorization", "proxy-authorization":
            // A value of one word has no scheme.
            let scheme = value.contains(" ") ? "\(value.prefix { $0 != " " }) " : ""
            return "\(line[..<colon]): \(scheme)(not shown)"
        case "cookie": return "\(line[..<colon]): (not shown)"
        case _: return line
        }
    }

    /// The line for a request that has no head, such as one of `file`.
    static func request(_ request: URLRequest) -> String {
        "> \(request.httpMethod ?? "GET") \(PlainText.line(request.url?.withoutPassword ?? ""))\n>\n"
    }
}

/// The form of curl's `--trace-ascii`: a title for each event, and its bytes as text.
enum TraceText {
    private static let width = 64

    static func information(_ text: String) -> String { "== Info: \(text)\n" }

    static func event(_ title: String, _ bytes: some Collection<UInt8>) -> String {
        var text = "\(title), \(bytes.count) bytes (0x\(String(bytes.count, radix: 16)))\n"
        var rest = bytes[...]
        var offset = 0
        while !rest.isEmpty {
            let line = rest.prefix(width)
            let end = line.firstIndex(of: UInt8(ascii: "\n"))
            let piece = end.map { line[...$0] } ?? line
            let shown = piece.filter { $0 != 0x0a && $0 != 0x0d }.map {
                (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: ".")
            }
            text += String(format: "%04x: ", offset) + String(decoding: shown, as: UTF8.self) + "\n"
            offset += piece.count
            rest = rest.dropFirst(piece.count)
        }
        return text
    }
}
