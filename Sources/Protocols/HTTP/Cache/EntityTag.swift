import LoadingKitPrimitives

/// Entity tags, compared as they stand in fields (RFC 9110 §8.8.3).
enum EntityTag {
    static func isStrong(_ tag: String) -> Bool { !tag.hasPrefix("W/") && !tag.isEmpty }

    /// The same octets, and neither of them weak.
    static func matchStrongly(_ a: String, _ b: String) -> Bool { isStrong(a) && a == b }

    /// The same octets, whether weak or not.
    static func matchWeakly(_ a: String, _ b: String) -> Bool { opaque(a) == opaque(b) }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    /// The tags of `If-None-Match`. Commas within quotes are part of a tag.
    static func list(_ value: String) -> [String] {
        var tags: [String] = []
        var tag = ""
        var isQuoted = false
        for scalar in value.unicodeScalars {
            if scalar == "\"" { isQuoted.toggle() }
            if scalar == ",", !isQuoted {
                tags.append(tag)
                tag = ""
            } else if isQuoted || (scalar != " " && scalar != "\t") {
                tag.unicodeScalars.append(scalar)
            }
        }
        return (tags + [tag]).filter { !$0.isEmpty }
    }
}
