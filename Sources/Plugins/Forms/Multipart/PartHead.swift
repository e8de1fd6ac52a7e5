import Foundation

/// The head of a part: its fields, and the empty line after them.
enum PartHead {
    /// - Throws: ``MultipartFormError/invalidField(part:field:)``.
    static func make(_ part: MultipartForm.Part) throws(MultipartFormError) -> String {
        var head = "Content-Disposition: form-data; name=\"\(encodedName(part.name))\""
        if let filename = part.filename { head += "; filename=\"\(escaped(filename))\"" }
        head += "\r\n"
        let type = part.contentType.map { [(name: "Content-Type", value: $0)] } ?? []
        for (name, value) in type + part.fields {
            guard !name.isEmpty, name.utf8.allSatisfy(isTokenCharacter), !value.utf8.contains(where: isForbidden) else {
                throw .invalidField(part: part.name, field: name)
            }
            head += "\(name): \(value)\r\n"
        }
        return head + "\r\n"
    }

    /// Encodes a name by HTML §4.10.21.8: line ends become CR LF, and then CR, LF and the quotation mark are
    /// percent-encoded. The percent sign is not encoded.
    static func encodedName(_ name: String) -> String { escaped(withLineEndsNormalized(name)) }

    /// Encodes a file name: like a name, but its line ends are not changed.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\r": result += "%0D"
            case "\n": result += "%0A"
            case "\"": result += "%22"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func withLineEndsNormalized(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var isAfterCarriageReturn = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n" where isAfterCarriageReturn: break
            case "\r", "\n": result.append(contentsOf: "\r\n".unicodeScalars)
            default: result.append(scalar)
            }
            isAfterCarriageReturn = scalar == "\r"
        }
        return String(result)
    }

    /// Whether the byte is a `tchar` (RFC 9110 §5.6.2).
    static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private static func isForbidden(_ byte: UInt8) -> Bool { byte == 0x0d || byte == 0x0a || byte == 0 }
}
