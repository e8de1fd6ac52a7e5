import CLoadingKitShims

extension HTTPFields {
    /// The values of the fields that frame a message or concern its connection (RFC 9112 §6, §9.6), in a form that is
    /// sufficient for nearly all messages.
    @usableFromInline
    package struct Framing {
        /// `Content-Length`.
        @usableFromInline package var length = Length.absent
        /// `Connection`.
        @usableFromInline package var connection = Connection.absent
        /// Whether there is a `Transfer-Encoding`.
        @usableFromInline package var hasTransferEncoding = false

        @usableFromInline
        package enum Length: Equatable {
            case absent
            case number(UInt64)
            /// There are several fields, or one whose value is not only a number.
            case unclear
        }

        @usableFromInline
        package enum Connection {
            case absent, keepAlive
            /// There are several fields, or another option.
            case unclear
        }

        init() {}

        /// The values that the C function which reads whole lines has found.
        @inlinable @inline(__always)
        package init(_ framing: lk_framing) {
            if framing.counts.1 > 0 {
                length = framing.counts.1 == 1 && framing.is_number != 0 ? .number(framing.number) : .unclear
            }
            if framing.counts.3 > 0 {
                connection = framing.counts.3 == 1 && framing.is_keep_alive != 0 ? .keepAlive : .unclear
            }
            hasTransferEncoding = framing.counts.2 > 0
        }

        fileprivate mutating func add(length value: UnsafeRawBufferPointer) {
            guard length == .absent, let number = ASCII.decimal(value) else { return length = .unclear }
            length = .number(number)
        }

        fileprivate mutating func add(connection value: UnsafeRawBufferPointer) {
            guard connection == .absent, ASCII.equalsIgnoringCase(value, "keep-alive") else {
                return connection = .unclear
            }
            connection = .keepAlive
        }
    }

    /// The values of the fields that frame a message or concern its connection.
    package var framing: Framing {
        withEntries { entries, bytes in
            var framing = Framing()
            for entry in entries {
                switch entry.knownNumber {
                case KnownField.contentLength.rawValue: framing.add(length: entry.value(in: bytes))
                case KnownField.connection.rawValue: framing.add(connection: entry.value(in: bytes))
                case KnownField.transferEncoding.rawValue: framing.hasTransferEncoding = true
                case _: break
                }
            }
            return framing
        }
    }
}
