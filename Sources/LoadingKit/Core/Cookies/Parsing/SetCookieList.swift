/// Several `Set-Cookie` fields that were joined with commas, as in a dictionary of fields.
///
/// A comma may also be part of a date or of a value. So the rule is a guess: a new cookie begins where a token and an
/// equals sign follow the comma. Fields that a connection has received are not joined, and need no guess.
enum SetCookieList {
    static func lines(_ joined: String) -> [Substring.UTF8View] {
        let bytes = joined.utf8
        var lines: [Substring.UTF8View] = []
        var start = bytes.startIndex
        var index = start
        while let comma = bytes[index...].firstIndex(of: UInt8(ascii: ",")) {
            index = bytes.index(after: comma)
            guard beginsCookie(bytes[index...]) else { continue }
            lines.append(bytes[start..<comma])
            start = index
        }
        lines.append(bytes[start...])
        return lines.map { line in
            let end = line.lastIndex { !isWhiteSpace($0) }.map { line.index(after: $0) } ?? line.startIndex
            return line[..<end].drop(while: isWhiteSpace)
        }
    }

    /// Line ends are white space here, as programs that join fields by hand may use them.
    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    private static func beginsCookie(_ bytes: Substring.UTF8View) -> Bool {
        let name = bytes.drop(while: isWhiteSpace)
        let rest = name.drop { Unicode.Scalar($0).isHTTPToken }
        return rest.startIndex != name.startIndex && rest.first == UInt8(ascii: "=")
    }
}
