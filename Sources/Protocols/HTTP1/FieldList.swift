import LoadingKitPrimitives

/// Fields whose value is a list of elements divided by commas (RFC 9110 §5.6.1).
enum FieldList {
    /// Calls `body` with each element that is not empty of all fields of that name, without the white space around it.
    static func forEach(_ known: KnownField, in fields: HTTPFields, _ body: (UnsafeRawBufferPointer) -> Void) {
        fields.forEachValue(of: known) { value in forEachElement(value) { if !$0.isEmpty { body($0) } } }
    }

    /// Calls `body` with each element, also the empty ones.
    static func forEachElement(_ value: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        var start = 0
        for index in 0...value.count where index == value.count || value[index] == Byte.comma {
            body(trimmed(value, start..<index))
            start = index + 1
        }
    }

    private static func trimmed(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> UnsafeRawBufferPointer {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, Byte.isSpace(bytes[start]) { start += 1 }
        while start < end, Byte.isSpace(bytes[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }
}
