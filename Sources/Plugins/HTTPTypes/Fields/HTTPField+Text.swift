#if HTTPTypes
    import HTTPTypes

    extension HTTPField {
        /// The value as LoadingKit reads one: UTF-8 where the bytes are that, else ISO-8859-1, so that none is lost.
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
