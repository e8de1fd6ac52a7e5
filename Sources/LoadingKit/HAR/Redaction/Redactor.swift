import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Applies a redaction, with its names in their canonical form.
package struct Redactor: Sendable {
    private static let marker = HARRedaction.marker
    private static let authorizations: Set<String> = ["authorization", "proxy-authorization"]
    /// Fields with a URL as their value, or at its end.
    private static let references: Set<String> = ["location", "content-location", "referer", "refresh"]

    private let fields: Set<String>
    private let names: SecretNameSet
    private let openCookies: Set<String>

    package init(_ redaction: HARRedaction) {
        fields = Set(redaction.headerFields.map { $0.lowercased() })
        names = SecretNameSet(redaction.names)
        openCookies = redaction.openCookies
    }

    // MARK: URLs

    package func url(_ text: String) -> String {
        let sent = String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
        return names.hidingSecrets(inURL: sent, users: Self.marker, values: Self.marker)
    }

    /// The URL of a task's request. Where `Location` is secret, a URL that is not the first one came in this field, and
    /// the URL to which the redacted field leads takes its place.
    ///
    /// - Parameter first: the URL of the task's first request.
    func url(_ url: URL?, after first: URL?) -> String {
        guard let url else { return "" }
        guard hides(url, after: first) else { return self.url(url.absoluteString) }
        return self.url(URL(string: Self.marker, relativeTo: first)?.absoluteString ?? Self.marker)
    }

    /// Whether the URL came in a `Location` that is secret.
    func hides(_ url: URL?, after first: URL?) -> Bool {
        guard hidesLocations, let url, let first else { return false }
        return !Self.isLike(url, first)
    }

    var hidesLocations: Bool { fields.contains("location") }

    /// Whether the URLs have at most different schemes, as where a host requires `https`.
    private static func isLike(_ one: URL, _ other: URL) -> Bool {
        one.absoluteString.drop { $0 != ":" } == other.absoluteString.drop { $0 != ":" }
    }

    static func withoutUsers(_ text: String) -> String { URLUsers.hidden(in: text, by: marker) }

    /// `application/x-www-form-urlencoded`: a query, or a body.
    func form(_ text: String) -> String { names.hidingValues(in: text, by: Self.marker) }

    // MARK: Fields

    package func field(_ name: String, _ value: String) -> String {
        let name = name.lowercased()
        guard fields.contains(name) else {
            if name == "link" { return links(value) }
            return Self.references.contains(name) ? url(value) : Self.withoutUsers(value)
        }
        switch name {
        case "cookie":
            // A separator may form one character with a combining mark behind it.
            return value.unicodeScalars.split(separator: ";").map { pair in
                let pair = String(pair).trimmingCharacters(in: .whitespaces)
                guard let equals = pair.unicodeScalars.firstIndex(of: "=") else { return Self.marker }
                let name = String(pair[..<equals])
                return openCookies.contains(name) ? pair : "\(name)=\(Self.marker)"
            }.joined(separator: "; ")
        case "set-cookie": return SetCookieField.split(value).map(setCookie).joined(separator: ", ")
        case _ where Self.authorizations.contains(name):
            guard let space = value.unicodeScalars.firstIndex(of: " ") else { return Self.marker }
            return "\(value[..<space]) \(Self.marker)"
        case _: return Self.marker
        }
    }

    /// The value of `Link`: each URL is between angle brackets (RFC 8288 §3). Parameters may be URLs, too.
    private func links(_ value: String) -> String {
        let pieces = value.unicodeScalars.split(separator: "<", omittingEmptySubsequences: false)
        return pieces.enumerated().map { index, piece in
            let target = index == 0 ? piece.prefix(0) : piece.prefix { $0 != ">" }
            let rest = String(piece.dropFirst(target.count))
            return url(String(target)) + names.hidingSecrets(inURL: rest, users: Self.marker, values: Self.marker)
        }.joined(separator: "<")
    }

    private func setCookie(_ line: String) -> String {
        let pair = line.prefix { $0 != ";" }
        guard let equals = pair.unicodeScalars.firstIndex(of: "=") else {
            return Self.marker + line.dropFirst(pair.count)
        }
        let name = String(pair[..<equals])
        return openCookies.contains(name) ? line : "\(name)=\(Self.marker)\(line.dropFirst(pair.count))"
    }

    // MARK: Bodies

    /// Whether a body is left out because of its content codings: the secrets in it are not found.
    ///
    /// - Parameter fields: those of the body's request or response.
    package func leavesOut(bodyWith fields: [(name: String, value: String)]) -> Bool {
        guard !names.isEmpty else { return false }
        return fields.contains { field in
            guard field.name.lowercased() == "content-encoding" else { return false }
            return field.value.split(separator: ",").contains { coding in
                !["", "identity"].contains(coding.trimmingCharacters(in: .whitespaces).lowercased())
            }
        }
    }

    package func body(_ bytes: [UInt8], _ contentType: String?) -> [UInt8] {
        guard !names.isEmpty else { return bytes }
        if let multipart = MultipartBody(bytes, contentType: contentType) { return self.multipart(multipart) }
        return single(bytes, contentType)
    }

    /// A body that is not divided into parts, or one part of a body.
    private func single(_ bytes: [UInt8], _ contentType: String?) -> [UInt8] {
        let essence = (contentType ?? "").unicodeScalars.prefix { $0 != ";" }
        let type = String(essence).trimmingCharacters(in: .whitespaces).lowercased()
        if type == "application/x-www-form-urlencoded" {
            return Array(form(String(decoding: bytes, as: UTF8.self)).utf8)
        }
        if let wide = WideText(bytes) {
            let text = Array(wide.text.utf8)
            let redacted = single(text, contentType)
            return redacted == text ? bytes : wide.encode(String(decoding: redacted, as: UTF8.self))
        }
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        let looksLikeJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        guard type.hasSuffix("json") || looksLikeJSON else { return bytes }
        return JSONRedaction(bytes, names.contains).redacted()
    }

    private func multipart(_ body: MultipartBody) -> [UInt8] {
        var whole: [UInt8] = []
        var end = 0
        for part in body.parts {
            whole += body.bytes[end..<part.content.lowerBound]
            whole +=
                names.contains(part.name)
                ? Array(Self.marker.utf8) : single(Array(body.bytes[part.content]), part.contentType)
            end = part.content.upperBound
        }
        guard let further = body.furtherParts else { return whole + body.bytes[end...] }
        return whole + body.bytes[end..<further] + Array(Self.marker.utf8)
    }
}

/// `Set-Cookie` fields, of which several may be joined with commas.
enum SetCookieField {
    /// One field without its attribute `Domain`.
    static func withoutDomain(_ line: String) -> String {
        let pieces = line.split(separator: ";", omittingEmptySubsequences: false)
        let attributes = pieces.dropFirst().filter { piece in
            piece.prefix { $0 != "=" }.trimmingCharacters(in: .whitespaces).lowercased() != "domain"
        }
        return (pieces.prefix(1) + attributes).joined(separator: ";")
    }

    /// A comma starts another cookie where a name and an equals sign follow, which is never the case in a date.
    static func split(_ value: String) -> [String] {
        // A separator may form one character with a combining mark behind it.
        let scalars = value.unicodeScalars
        var lines: [String] = []
        var start = scalars.startIndex
        for piece in scalars.split(separator: ",", omittingEmptySubsequences: false)
        where piece.startIndex > start && isCookie(piece) {
            lines.append(line(scalars[start..<scalars.index(before: piece.startIndex)]))
            start = piece.startIndex
        }
        return lines + [line(scalars[start...])]
    }

    private static func line(_ scalars: Substring.UnicodeScalarView) -> String {
        String(scalars).trimmingCharacters(in: .whitespaces)
    }

    private static func isCookie(_ piece: Substring.UnicodeScalarView) -> Bool {
        let name = piece.prefix { $0 != "=" && $0 != ";" }
        return name.endIndex < piece.endIndex && piece[name.endIndex] == "="
            && !String(name).trimmingCharacters(in: .whitespaces).contains(" ")
    }
}
