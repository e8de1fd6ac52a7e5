#if Telemetry
    import Tracing

    /// Collects the fields that a tracer injects. A field that HTTP does not permit is left out: the request could not be
    /// sent with it.
    struct FieldInjector: Injector {
        func inject(_ value: String, forKey name: String, into fields: inout [(name: String, value: String)]) {
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenCharacter),
                value.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7f })
            else { return }
            fields.append((name, value))
        }

        /// Whether the byte is a `tchar` (RFC 9110 §5.6.2).
        private static func isTokenCharacter(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
    }
#endif
