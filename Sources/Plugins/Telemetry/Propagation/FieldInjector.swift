#if Telemetry
    import Tracing

    /// The fields that a tracer writes.
    struct FieldCarrier: Sendable {
        private(set) var fields: [(name: String, value: String)] = []

        /// A field that HTTP does not permit is left out: the request could not be sent with it.
        fileprivate mutating func append(_ name: String, _ value: String) {
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

    /// Writes the values that a tracer injects.
    struct FieldInjector: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout FieldCarrier) {
            carrier.append(key, value)
        }
    }
#endif
