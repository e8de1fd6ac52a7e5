import LoadingKitPrimitives

/// The fields that describe an HTTP/1.1 connection, and have no place here (RFC 9113 §8.2.2).
enum ConnectionFields {
    /// Whether a field is one of them; TE is, unless it says `trailers`.
    @inline(__always)
    static func contains(_ known: KnownField, _ value: @autoclosure () -> UnsafeRawBufferPointer) -> Bool {
        known.isConnectionSpecific || (known == .te && !ASCII.equalsIgnoringCase(value(), "trailers"))
    }
}

extension HTTPFields {
    /// Removes the fields that describe an HTTP/1.1 connection (RFC 9113 §8.2.2), which HTTP/2 does not allow; `TE` too,
    /// unless it says `trailers`.
    public mutating func removeConnectionFields() {
        for known in KnownField.connectionSpecific { remove(known) }
        guard let index = firstIndex(of: .te) else { return }
        if withBytes(at: index, { ConnectionFields.contains($2, $1) }) { remove(.te) }
    }
}
