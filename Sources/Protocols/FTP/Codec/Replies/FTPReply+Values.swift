import LoadingKitPrimitives

/// What replies say, beyond their codes.
extension FTPReply {
    /// The port of a reply to `EPSV` (RFC 2428 §3): `229 … (|||6446|)`. Nil where there is none, or it is 0.
    public var extendedPassivePort: UInt16? {
        guard code == 229 else { return nil }
        for line in lines {
            guard let open = line.firstIndex(of: UInt8(ascii: "(")), open + 1 < line.endIndex else { continue }
            let delimiter = line[open + 1]
            guard (33...126).contains(delimiter), !ASCII.isDigit(delimiter) else { continue }
            let parts = line[(open + 1)...].split(separator: delimiter, omittingEmptySubsequences: false)
            // Before the first delimiter, the protocol, the address (both empty), the port, and the parenthesis.
            guard parts.count == 5, parts[0].isEmpty, parts[4].first == UInt8(ascii: ")") else { continue }
            return FTPNumber.port(parts[3])
        }
        return nil
    }

    /// The address and the port of a reply to `PASV` (RFC 959 §4.1.2): six numbers with commas, wherever they stand. Nil where
    /// there are none, or the port is 0.
    ///
    /// The address is not to be connected to: a server might name another machine. That of the control connection is.
    public var passiveAddress: (address: [UInt8], port: UInt16)? {
        guard code == 227 else { return nil }
        for line in lines {
            var rest = line[...]
            while let digit = rest.firstIndex(where: ASCII.isDigit) {
                rest = rest[digit...]
                let text = rest.prefix { ASCII.isDigit($0) || $0 == ASCII.comma }
                let numbers = text.split(separator: ASCII.comma, omittingEmptySubsequences: false).map { number in
                    number.count <= 3 ? FTPNumber.decimal(number).flatMap { UInt8(exactly: $0) } : nil
                }
                if numbers.count >= 6, case let values = numbers.prefix(6).compactMap({ $0 }), values.count == 6 {
                    let port = UInt16(values[4]) << 8 | UInt16(values[5])
                    return port > 0 ? (Array(values[..<4]), port) : nil
                }
                rest = rest[text.endIndex...]
            }
        }
        return nil
    }

    /// The number of bytes of a reply to `SIZE` (RFC 3659 §4). Nil where there is none.
    public var size: Int64? {
        guard code == 213, let line = lines.first else { return nil }
        return FTPNumber.decimal(ASCII.trimmingSpaces(line))
    }

    /// The time of a reply to `MDTM` (RFC 3659 §3), in seconds since 1 January 1970 UTC; a fraction is left out. Nil where
    /// there is none.
    public var modificationTime: Int64? {
        guard code == 213, let line = lines.first else { return nil }
        let parts = ASCII.trimmingSpaces(line).split(separator: UInt8(ascii: "."), maxSplits: 1)
        guard let digits = parts.first, digits.count == 14, digits.allSatisfy(ASCII.isDigit) else { return nil }
        func number(_ from: Int, _ count: Int) -> Int {
            digits.dropFirst(from).prefix(count).reduce(0) { $0 * 10 + Int($1 & 0x0F) }
        }
        let (year, month, day) = (number(0, 4), number(4, 2), number(6, 2))
        let (hour, minute, second) = (number(8, 2), number(10, 2), number(12, 2))
        guard year > 0, (1...12).contains(month), (1...GregorianCalendar.days(of: month, in: year)).contains(day),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = GregorianCalendar.daysSince1970(year, month, day)
        return Int64(days * 86_400 + hour * 3_600 + minute * 60 + second)
    }

    /// The path of a reply to `PWD` or `MKD` (RFC 959 §4.1.3, Appendix II): between quotes, a quote in it doubled. Nil where
    /// there is none.
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

    /// The number of bytes that many servers announce in the reply to `RETR`: `150 Opening … (1234 bytes)`. Nil where there is
    /// none.
    public var announcedSize: Int64? {
        guard kind == .preliminary, let line = lines.last, let open = line.lastIndex(of: UInt8(ascii: "(")) else {
            return nil
        }
        let text = line[(open + 1)...]
        let digits = text.prefix(while: ASCII.isDigit)
        let unit = text.dropFirst(digits.count).prefix(6).map(ASCII.lowercased)
        return unit == Array(" bytes".utf8) || unit == Array(" byte)".utf8) ? FTPNumber.decimal(digits) : nil
    }

    /// Code and text as a message quotes them: the last line, where the reason stands, without control characters.
    public var summary: String {
        let text = FTPText.string(lines.last { !$0.isEmpty } ?? [])
        return text.isEmpty ? "\(code)" : "\(code) \(text)"
    }
}

/// Numbers in replies.
enum FTPNumber {
    /// The number that decimal digits alone spell; nil too when it is beyond 63 bits.
    static func decimal(_ digits: some Sequence<UInt8>) -> Int64? {
        var number: Int64?
        for byte in digits {
            guard let digit = ASCII.digit(byte) else { return nil }
            let (product, overflow) = (number ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(digit))
            if overflow || carry { return nil }
            number = sum
        }
        return number
    }

    static func port(_ digits: some Sequence<UInt8>) -> UInt16? {
        guard let number = decimal(digits).flatMap({ UInt16(exactly: $0) }), number > 0 else { return nil }
        return number
    }
}
