import LoadingKitPrimitives

/// The values that replies contain in addition to their codes.
extension FTPReply {
    /// The port in a reply to `EPSV` (RFC 2428 §3): `229 … (|||6446|)`. Nil if there is none, or if it is 0.
    public var extendedPassivePort: UInt16? {
        guard code == 229 else { return nil }
        for line in lines {
            guard let open = line.firstIndex(of: UInt8(ascii: "(")), open + 1 < line.endIndex else { continue }
            let delimiter = line[open + 1]
            guard (33...126).contains(delimiter), !ASCII.isDigit(delimiter) else { continue }
            let parts = line[(open + 1)...].split(separator: delimiter, omittingEmptySubsequences: false)
            // The five parts: an empty one before the first delimiter, the protocol and the address (both empty), the
            // port, and the closing parenthesis.
            guard parts.count == 5, parts[0].isEmpty, parts[4].first == UInt8(ascii: ")") else { continue }
            return parts[3].decimal.flatMap { UInt16(exactly: $0) }.flatMap { $0 > 0 ? $0 : nil }
        }
        return nil
    }

    /// The port in a reply to `PASV` (RFC 959 §4.1.2): the last two of six numbers with commas, at any position of the
    /// text. Nil if there are none, or if the port is 0. The address before the port is ignored: a server might name
    /// another host.
    public var passivePort: UInt16? {
        guard code == 227 else { return nil }
        for line in lines {
            for text in line.split(whereSeparator: { !ASCII.isDigit($0) && $0 != ASCII.comma }) {
                let numbers = text.drop { $0 == ASCII.comma }.split(
                    separator: ASCII.comma, omittingEmptySubsequences: false
                ).prefix(6).compactMap { $0.count <= 3 ? $0.decimal.flatMap { UInt8(exactly: $0) } : nil }
                guard numbers.count == 6 else { continue }
                let port = UInt16(numbers[4]) << 8 | UInt16(numbers[5])
                return port > 0 ? port : nil
            }
        }
        return nil
    }

    /// The number of bytes in a reply to `SIZE` (RFC 3659 §4). Nil if there is none.
    public var size: Int64? {
        guard code == 213, let line = lines.first else { return nil }
        return ASCII.trimmingSpaces(line).decimal.flatMap { Int64(exactly: $0) }
    }

    /// The time in a reply to `MDTM` (RFC 3659 §3), in seconds since 1 January 1970 UTC, without a fraction. Nil if
    /// there is none.
    public var modificationTime: Int64? {
        guard code == 213, let line = lines.first else { return nil }
        return FTPTimestamp(digits: ASCII.trimmingSpaces(line))?.secondsSince1970
    }

    /// The path in a reply to `PWD` or `MKD` (RFC 959 §4.1.3, Appendix II). Quotes enclose the path, and a quote within
    /// it is doubled. Nil if there is no path, or if it is empty.
    public var quotedPath: [UInt8]? {
        let quote = UInt8(ascii: "\"")
        guard code == 257, let line = lines.first, let start = line.firstIndex(of: quote) else { return nil }
        var path: [UInt8] = []
        var index = start + 1
        while index < line.endIndex {
            if line[index] == quote {
                guard index + 1 < line.endIndex, line[index + 1] == quote else { return path.isEmpty ? nil : path }
                index += 1
            }
            path.append(line[index])
            index += 1
        }
        return nil
    }

    /// The number of bytes that many servers announce in the reply to `RETR`: `150 Opening … (1234 bytes)`. Nil if
    /// there is none.
    public var announcedSize: Int64? {
        guard kind == .preliminary, let line = lines.last, let open = line.lastIndex(of: UInt8(ascii: "(")) else {
            return nil
        }
        let text = line[(open + 1)...]
        let digits = text.prefix(while: ASCII.isDigit)
        let unit = text.dropFirst(digits.count).prefix(6).map(ASCII.lowercased)
        guard unit == Array(" bytes".utf8) || unit == Array(" byte)".utf8) else { return nil }
        return digits.decimal.flatMap { Int64(exactly: $0) }
    }

    /// The code and the text for messages: the last line that is not empty, which states the reason, without control
    /// characters.
    public var summary: String {
        let text = FTPText.string(lines.last { !$0.isEmpty } ?? [])
        return text.isEmpty ? "\(code)" : "\(code) \(text)"
    }
}
