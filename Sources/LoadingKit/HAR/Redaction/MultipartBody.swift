import Foundation
import LoadingKitCore

/// `multipart/form-data` (RFC 7578), as far as a recording needs it: the parts, and the ranges of their contents.
@_spi(LoadingKitPlugins)
public struct MultipartBody {
    /// One part.
    public struct Part {
        /// The parameter `name` of `Content-Disposition`.
        public var name: String
        /// The parameter `filename` of `Content-Disposition`.
        public var fileName: String?
        /// The value of `Content-Type`.
        public var contentType: String?
        /// The range of the content in the body.
        public var content: Range<Int>
    }

    /// The largest number of parts that are parsed.
    private static let maximumParts = 1_000

    let bytes: [UInt8]
    /// The parts, in their order.
    public let parts: [Part]
    /// The position of further parts, which are not parsed; nil where there are none.
    let furtherParts: Int?

    /// Nil where the type is not `multipart/form-data`, or has no boundary.
    public init?(_ bytes: [UInt8], contentType: String?) {
        guard let contentType, contentType.lowercased().hasPrefix("multipart/form-data"),
            let boundary = Self.parameter("boundary", of: contentType), !boundary.isEmpty
        else { return nil }
        self.bytes = bytes
        (parts, furtherParts) = Self.parts(of: bytes, delimiter: Array("--\(boundary)".utf8))
    }

    /// A part's content as UTF-8, with a replacement character for bytes that are none.
    public func text(of part: Part) -> String { String(decoding: bytes[part.content], as: UTF8.self) }

    private static func parts(of bytes: [UInt8], delimiter: [UInt8]) -> ([Part], Int?) {
        var parts: [Part] = []
        var firstDelimiter = DelimiterScanner(delimiter)
        var headEnds = DelimiterScanner([0x0D, 0x0A, 0x0D, 0x0A])
        var contentEnds = DelimiterScanner([0x0D, 0x0A] + delimiter)
        guard var start = firstDelimiter.first(in: bytes, from: 0) else { return ([], nil) }
        while true {
            let headStart = start + delimiter.count
            if bytes[headStart...].starts(with: [0x2D, 0x2D]) { break }
            guard parts.count < maximumParts else { return (parts, headStart) }
            guard let headEnd = headEnds.first(in: bytes, from: headStart) else { break }
            let contentStart = headEnd + 4
            let next = contentEnds.first(in: bytes, from: contentStart)
            let head = String(decoding: bytes[headStart..<headEnd], as: UTF8.self)
            parts.append(part(head, content: contentStart..<(next ?? bytes.count)))
            guard let next else { break }
            start = next + 2
        }
        return (parts, nil)
    }

    private static func part(_ head: String, content: Range<Int>) -> Part {
        var part = Part(name: "", content: content)
        for line in head.split(separator: "\r\n") {
            let scalars = line.unicodeScalars
            guard let colon = scalars.firstIndex(of: ":") else { continue }
            let value = String(scalars[scalars.index(after: colon)...]).trimmingCharacters(in: .whitespaces)
            switch String(scalars[..<colon]).lowercased() {
            case "content-disposition":
                part.name = parameter("name", of: value) ?? ""
                part.fileName = parameter("filename", of: value)
            case "content-type": part.contentType = value
            default: break
            }
        }
        return part
    }

    /// A parameter after a field's first semicolon, without its quotes.
    static func parameter(_ name: String, of value: String) -> String? {
        // By scalars: a quotation mark or a separator forms one character with a combining mark behind it.
        var rest = value.unicodeScalars.drop { $0 != ";" }
        while rest.first == ";" {
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let key = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(key.count)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst()
            var text = String.UnicodeScalarView()
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while let scalar = rest.popFirst(), scalar != "\"" {
                    text.append(scalar == "\\" ? rest.popFirst() ?? "\\" : scalar)
                }
                rest = rest.drop { $0 != ";" }
            } else {
                text.append(contentsOf: rest.prefix { $0 != ";" })
                rest = rest.drop { $0 != ";" }
            }
            if String(key).lowercased() == name { return String(text).trimmingCharacters(in: .whitespaces) }
        }
        return nil
    }
}
