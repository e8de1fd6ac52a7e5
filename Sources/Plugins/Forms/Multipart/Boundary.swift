import Foundation

/// The separator of the parts of a multipart body (RFC 2046 §5.1.1).
enum Boundary {
    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// 32 of 62 characters: about 190 bits, from the system's random numbers.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        let characters = (0..<32).compactMap { _ in alphabet.randomElement(using: &generator) }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Whether the text is a valid boundary: 1 to 70 `bchars`, of which the last is not a space.
    static func isValid(_ text: String) -> Bool {
        (1...70).contains(text.utf8.count) && text.utf8.allSatisfy(isBoundaryCharacter) && text.utf8.last != 0x20
    }

    private static func isBoundaryCharacter(_ byte: UInt8) -> Bool {
        alphabet.contains(byte) || "'()+_,-./:=? ".utf8.contains(byte)
    }

    /// `multipart/form-data` with the boundary, which is quoted where it is not a token.
    static func contentType(_ boundary: String) -> String {
        let isToken = boundary.utf8.allSatisfy(PartHead.isTokenCharacter)
        return "multipart/form-data; boundary=" + (isToken ? boundary : "\"\(boundary)\"")
    }

    static func occurs(_ boundary: String, in data: Data) -> Bool {
        let pattern = Array(boundary.utf8)
        return data.withUnsafeBytes { data in
            guard let first = pattern.first, let base = data.baseAddress else { return pattern.isEmpty }
            var start = 0
            while data.count - start >= pattern.count {
                guard let found = memchr(base + start, Int32(first), data.count - pattern.count - start + 1) else {
                    break
                }
                if memcmp(found, pattern, pattern.count) == 0 { return true }
                start = base.distance(to: UnsafeRawPointer(found)) + 1
            }
            return false
        }
    }
}
