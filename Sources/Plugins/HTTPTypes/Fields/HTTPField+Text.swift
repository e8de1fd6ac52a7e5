#if HTTPTypes
    import HTTPTypes

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
