import LoadingKitPrimitives

/// The directives of one line of `Cache-Control`, from left to right (RFC 9111 §5.2).
///
/// Nothing is an error: what is no directive is passed over, and an argument may be a token or a quoted string whichever
/// its directive asks for, as §5.2 wants of recipients.
struct CacheDirectives {
    struct Directive {
        let name: UnsafeRawBufferPointer
        /// Without its quotes; nil where the directive has none.
        let argument: UnsafeRawBufferPointer?

        func isNamed(_ text: StaticString) -> Bool { ASCII.equalsIgnoringCase(name, text) }
    }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func next() -> Directive? {
        while position < bytes.count {
            let name = take { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
            guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
                position += 1
                if !name.isEmpty { return Directive(name: name, argument: nil) }
                continue
            }
            position += 1
            let argument = takeArgument()
            if !name.isEmpty { return Directive(name: name, argument: argument) }
        }
        return nil
    }

    private mutating func takeArgument() -> UnsafeRawBufferPointer {
        _ = take { ASCII.isSpace($0) }
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            defer { position += 1 }
            return take { $0 != UInt8(ascii: ",") }
        }
        let start = position + 1
        position = start
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        let end = min(position, bytes.count)
        position = end + 1
        // What stands between the quote and the comma has no meaning.
        _ = take { $0 != UInt8(ascii: ",") }
        position += 1
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    /// The bytes from here for which `belongs` is true, without the spaces around them.
    private mutating func take(_ belongs: (UInt8) -> Bool) -> UnsafeRawBufferPointer {
        let start = min(position, bytes.count)
        position = start
        while position < bytes.count, belongs(bytes[position]) { position += 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<position]).trimmingSpaces
    }
}

extension UnsafeRawBufferPointer {
    /// Without the spaces and tabs at both ends.
    var trimmingSpaces: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: ASCII.trimmingSpaces(self)) }
}
