import Foundation
import LoadingKitPrimitives

/// Determines a name for a file with a response's content. The name is safe to use, whatever the server has sent.
struct SuggestedFilename {
    private static let maximumBytes = 255
    private static let unknown = "Unknown"

    let string: String

    init(contentDisposition: String?, url: URL?, mimeType: String?) {
        let candidates: [() -> String?] = [
            { contentDisposition.flatMap { ContentDisposition($0).filename } },
            { url.flatMap(Self.lastPathComponent) },
        ]
        let name = candidates.lazy.compactMap { $0().flatMap(Self.sanitized) }.first
        let typeExtension = Self.pathExtension(for: mimeType)
        if let name {
            string = Self.join(name, Self.hasExtension(name) ? nil : typeExtension)
        } else {
            // The extension is added here: the host's last label is not an extension.
            string = Self.join(url?.host.flatMap(Self.sanitized) ?? Self.unknown, typeExtension)
        }
    }

    /// Nil for a URL without a hierarchical path, such as a `data:` URL (RFC 3986 §3.3). A URL without a scheme is a
    /// path.
    private static func lastPathComponent(of url: URL) -> String? {
        url.path.hasPrefix("/") || url.scheme == nil ? url.lastPathComponent : nil
    }

    /// The name's last path component, without characters that would hide the file, lead out of the folder or mislead a
    /// reader. Nil when nothing remains.
    private static func sanitized(_ name: String) -> String? {
        let scalars = name.unicodeScalars
        let last = scalars.lastIndex { $0 == "/" || $0 == "\\" }.map(scalars.index(after:)) ?? scalars.startIndex
        let safe = String.UnicodeScalarView(scalars[last...].filter { !isUnsafe($0) })
        // Leading dots would hide the file; the names "." and ".." also begin with one.
        var kept = safe.drop { $0 == "." || $0.properties.isWhitespace }
        while let end = kept.last, end.properties.isWhitespace { kept.removeLast() }
        return kept.isEmpty ? nil : String(Substring(kept))
    }

    /// Whether the scalar is a control character, or a mark that changes the direction of text: with such a mark, a
    /// name that ends in "exe" can be displayed as one that ends in "txt".
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isBidiControl
        }
    }

    private static func hasExtension(_ name: String) -> Bool {
        guard let dot = name.lastIndex(of: ".") else { return false }
        return dot != name.startIndex && name.index(after: dot) != name.endIndex
    }

    private static func pathExtension(for mimeType: String?) -> String? {
        // This type does not describe the content.
        guard let mimeType, !mimeType.equalsIgnoringASCIICase("application/octet-stream") else { return nil }
        return MIMEType.preferredExtension(for: mimeType)
    }

    /// Adds the extension. Shortens the part before the last dot if the name is too long for a file system.
    private static func join(_ name: String, _ newExtension: String?) -> String {
        let full = newExtension.map { "\(name).\($0)" } ?? name
        guard full.utf8.count > maximumBytes else { return full }
        let dot = hasExtension(full) ? full.lastIndex(of: ".") : nil
        var suffix = dot.map { full[$0...] } ?? ""
        if suffix.utf8.count > maximumBytes / 2 { suffix = "" }
        var stem = full[..<(suffix.isEmpty ? full.endIndex : suffix.startIndex)]
        while stem.utf8.count + suffix.utf8.count > maximumBytes { stem.unicodeScalars.removeLast() }
        return String(stem + suffix)
    }
}

/// The file name of a Content-Disposition field (RFC 6266), as the server has sent it: it may contain any characters.
struct ContentDisposition {
    /// The name of `filename*` when it can be decoded, otherwise the name of `filename`, otherwise nil.
    let filename: String?

    init(_ value: String) {
        var plain: String?
        var extended: String?
        for parameter in value.splitOutsideQuotes(at: ";").dropFirst() {
            let scalars = parameter.unicodeScalars
            guard let equals = scalars.firstIndex(of: "=") else { continue }
            let name = parameter[..<equals].trimmingHTTPWhitespace
            let value = parameter[scalars.index(after: equals)...].trimmingHTTPWhitespace
            // RFC 6266 §4.1 forbids a parameter to occur twice. If one does, the first counts.
            if name.equalsIgnoringASCIICase("filename") {
                plain = plain ?? value.unquoted
            } else if name.equalsIgnoringASCIICase("filename*") {
                extended = extended ?? Self.decodeExtended(value)
            }
        }
        filename = extended ?? plain
    }

    /// `charset'language'percent-encoded` (RFC 8187 §3.2); nil when the value does not have this form.
    private static func decodeExtended(_ value: String) -> String? {
        let parts = value.unquoted.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = percentDecoded(parts[2]) else { return nil }
        if parts[0].equalsIgnoringASCIICase("utf-8") { return String(bytes: bytes, encoding: .utf8) }
        if parts[0].equalsIgnoringASCIICase("iso-8859-1") { return String(bytes: bytes, encoding: .isoLatin1) }
        return nil
    }

    private static func percentDecoded(_ text: Substring) -> [UInt8]? {
        var result: [UInt8] = []
        var bytes = text.utf8.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard let high = bytes.next().flatMap(ASCII.hexDigit), let low = bytes.next().flatMap(ASCII.hexDigit)
            else { return nil }
            result.append(high << 4 | low)
        }
        return result
    }
}
