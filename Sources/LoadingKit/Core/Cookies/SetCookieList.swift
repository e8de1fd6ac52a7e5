/// Several `Set-Cookie` fields that a dictionary of fields has joined by commas.
///
/// A comma is also part of dates and allowed in values, so this is a guess: a new cookie begins where a token and an
/// equals sign follow the comma. What comes from a connection is never joined, and needs no guess.
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

    /// Programs that join fields by hand do so over several lines, too.
    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    private static func beginsCookie(_ bytes: Substring.UTF8View) -> Bool {
        let name = bytes.drop(while: isWhiteSpace)
        let rest = name.drop { Unicode.Scalar($0).isHTTPToken }
        return rest.startIndex != name.startIndex && rest.first == UInt8(ascii: "=")
    }
}
