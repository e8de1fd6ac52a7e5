#if HTTPTypes
    import HTTPTypes

    /// Fields made of a dictionary's names and values.
    enum FieldSeparation {
        /// `HTTPFields` traps beyond it.
        static let maximumCount = Int(UInt16.max) - 1

        /// Names in the order of their letters, as a dictionary has none; those that HTTP does not allow are left out.
        ///
        /// - Returns: nil where there are more than ``maximumCount``.
        static func fields(of dictionary: [String: String], splitsSetCookie: Bool) -> HTTPFields? {
            var fields: [HTTPField] = []
            for (text, value) in dictionary.sorted(by: { $0.key < $1.key }) {
                guard let name = HTTPField.Name(text) else { continue }
                let values = splitsSetCookie && name == .setCookie ? cookies(value) : [value]
                fields += values.map { HTTPField(name: name, value: $0) }
            }
            guard fields.count <= maximumCount else { return nil }
            return HTTPFields(fields)
        }

        /// The values of `Set-Cookie` lines that were joined by commas. Dates have commas, too: a further cookie begins
        /// where a name and an equals sign follow one.
        static func cookies(_ joined: String) -> [String] {
            let bytes = Array(joined.utf8)
            var cookies: [String] = []
            var start = 0
            for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: ",") {
                guard beginsCookie(bytes[(index + 1)...]) else { continue }
                cookies.append(trimmed(bytes[start..<index]))
                start = index + 1
            }
            return cookies + [trimmed(bytes[start...])]
        }

        private static func beginsCookie(_ bytes: ArraySlice<UInt8>) -> Bool {
            let name = bytes.drop(while: isSpace).prefix {
                $0 != UInt8(ascii: "=") && !isSpace($0) && $0 != 0x3b && $0 != 0x2c
            }
            return name.endIndex < bytes.endIndex && bytes[name.endIndex] == UInt8(ascii: "=")
                && HTTPField.Name(String(decoding: name, as: UTF8.self)) != nil
        }

        private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
            let end = bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? bytes.startIndex
            return String(decoding: bytes[..<end].drop(while: isSpace), as: UTF8.self)
        }

        private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    }
#endif
