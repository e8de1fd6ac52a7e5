#if HTTPTypes
    import HTTPTypes

    extension HTTPFields {
        /// The limit beyond which `HTTPFields` traps.
        static let maximumCount = Int(UInt16.max) - 1

        /// Fields from LoadingKit's list; those with names that HTTP does not permit are left out. Nil where there are
        /// more than ``maximumCount``.
        init?(list: [(name: String, value: String)]) {
            let fields = list.compactMap { name, value in
                HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
            }
            guard fields.count <= Self.maximumCount else { return nil }
            self.init(fields)
        }

        /// The fields in LoadingKit's form. Several `Cookie` fields become one (RFC 9113 §8.2.3), in the place of the
        /// first.
        var list: [(name: String, value: String)] {
            var list: [(name: String, value: String)] = []
            var cookies: Int?
            for field in self {
                if field.name == .cookie, let place = cookies {
                    list[place].value += "; \(field.text)"
                } else {
                    if field.name == .cookie { cookies = list.count }
                    list.append((field.name.rawName, field.text))
                }
            }
            return list
        }
    }

    extension HTTPField {
        /// The value as LoadingKit decodes it: UTF-8 where the bytes are valid, otherwise ISO-8859-1, so that no byte
        /// is lost.
        var text: String {
            withUnsafeBytesOfValue { bytes in
                if let text = String(validating: bytes, as: UTF8.self) { return text }
                var text = String.UnicodeScalarView()
                for byte in bytes { text.append(Unicode.Scalar(byte)) }
                return String(text)
            }
        }
    }
#endif
