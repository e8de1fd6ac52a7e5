import Foundation

/// A case of the conformance data: a message, and the log that llhttp's parser gave for it.
struct LLHTTPCase {
    /// What the log says of one message.
    struct Message: Equatable {
        var status = 0
        var version = ""
        var reason = ""
        var fields: [Field] = []
        var body: [UInt8] = []
        var isComplete = false
    }

    struct Field: Equatable {
        var name: String
        var value: String
    }

    var name: String
    var meta: String
    var input: [UInt8]
    /// The messages of which the log has all fields.
    var messages: [Message] = []
    /// The code of the error that the log ends with.
    var errorCode: Int?
    /// The place of that error.
    var errorOffset = 0
    /// The body ends when the connection does.
    var needsClose = false

    /// All cases of a file.
    static func cases(in file: URL) throws -> [LLHTTPCase] {
        let text = try String(contentsOf: file, encoding: .utf8)
        return text.components(separatedBy: "\n## ").dropFirst().compactMap(LLHTTPCase.init(section:))
    }

    private init?(section: String) {
        guard let name = section.split(separator: "\n").first,
            let meta = section.firstMatch(of: /<!-- meta=(.*) -->/),
            let input = section.firstMatch(of: /```http\n((?s).*?)```/),
            let log = section.firstMatch(of: /```log\n((?s).*?)```/)
        else { return nil }
        self.name = String(name)
        self.meta = String(meta.1)
        self.input = Self.bytes(String(input.1))
        readLog(String(log.1))
    }

    /// A line ends with CRLF, unless a backslash stands before its end; the last one's end is not part of the message.
    private static func bytes(_ block: String) -> [UInt8] {
        var text = block
        if text.hasSuffix("\n") { text.removeLast() }
        text = text.replacingOccurrences(of: "\\\n", with: "").replacingOccurrences(of: "\n", with: "\r\n")
        for (escape, character) in [("\\r", "\r"), ("\\n", "\n"), ("\\t", "\t"), ("\\f", "\u{C}")] {
            text = text.replacingOccurrences(of: escape, with: character)
        }
        return Array(text.utf8)
    }

    private mutating func readLog(_ log: String) {
        var message = Message()
        var value: [UInt8] = []
        var isHeadComplete = false
        for line in log.split(separator: "\n") {
            guard let match = line.firstMatch(of: /^off=([0-9]+|NULL) (.*)$/) else { continue }
            let offset = Int(match.1) ?? input.count
            let event = String(match.2)
            if let span = event.firstMatch(of: /^len=([0-9]+) span\[([a-z_]+)\]/), let length = Int(span.1) {
                let bytes = Array(input[offset..<offset + length])
                switch span.2 {
                case "version": message.version = text(bytes)
                case "status": message.reason += text(bytes)
                case "header_field": message.fields.append(Field(name: text(bytes), value: ""))
                case "header_value": value += bytes
                case "body": message.body += bytes
                default: break
                }
            } else if event == "header_value complete", !message.fields.isEmpty {
                // llhttp leaves the white space at a value's end to its users.
                message.fields[message.fields.count - 1].value =
                    text(value).trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
                value = []
            } else if let head = event.firstMatch(of: /^headers complete status=([0-9]+)/) {
                message.status = Int(head.1) ?? 0
                isHeadComplete = true
            } else if event == "message complete" || event == "skip body" {
                message.isComplete = true
            } else if event == "message begin" {
                if isHeadComplete { messages.append(message) }
                message = Message()
                isHeadComplete = false
            } else if let error = event.firstMatch(of: /^error code=([0-9]+)/) {
                errorCode = Int(error.1)
                errorOffset = offset
            }
            if event.hasPrefix("finish=1") { needsClose = true }
        }
        if isHeadComplete { messages.append(message) }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
