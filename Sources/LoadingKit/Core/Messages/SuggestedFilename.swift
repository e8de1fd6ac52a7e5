import Foundation

/// Finds a name for a file with a response's content, which is safe to use whatever the server says.
struct SuggestedFilename {
    /// What file systems allow for a name.
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
            // The host's last label is no extension.
            string = Self.join(url?.host.flatMap(Self.sanitized) ?? Self.unknown, typeExtension)
        }
    }

    /// Nil for URLs such as `data:` ones, whose rest is no path (RFC 3986 §3.3). What has no scheme is one.
    private static func lastPathComponent(of url: URL) -> String? {
        url.path.hasPrefix("/") || url.scheme == nil ? url.lastPathComponent : nil
    }

    /// The last path component, without what would hide the file, leave the folder or deceive a reader; nil when
    /// nothing is left.
    private static func sanitized(_ name: String) -> String? {
        let scalars = name.unicodeScalars
        let last = scalars.lastIndex { $0 == "/" || $0 == "\\" }.map(scalars.index(after:)) ?? scalars.startIndex
        var kept = String.UnicodeScalarView(scalars[last...].filter { !isUnsafe($0) })
        // Leading dots would hide the file, and include "." and "..".
        while let first = kept.first, first == "." || first.properties.isWhitespace { kept.removeFirst() }
        while let end = kept.last, end.properties.isWhitespace { kept.removeLast() }
        return kept.isEmpty ? nil : String(kept)
    }

    /// Control characters, and the marks that change the direction of text ("exe.txt" that ends in "exe").
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
        // It says nothing about the content.
        guard let mimeType, !mimeType.equalsIgnoringASCIICase("application/octet-stream") else { return nil }
        return MIMEType.preferredExtension(for: mimeType)
    }

    /// Adds the extension, and shortens what stands before the last dot to what a file system takes.
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
