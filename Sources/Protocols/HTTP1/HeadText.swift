import LoadingKitPrimitives

/// A piece of a message's first line: a range of the head's bytes, shared with its fields, that becomes a `String` when
/// someone asks.
@usableFromInline
struct HeadText: Sendable, Equatable {
    /// Whose bytes they are.
    private let fields: HTTPFields
    private let start: UInt32
    private let count: UInt32

    /// The bytes of `range`, which no head is long enough to have beyond 32 bits.
    @usableFromInline
    init(of fields: HTTPFields, _ range: Range<Int>) {
        let range = range.clamped(to: 0..<fields.byteCount)
        self.fields = fields
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        count = UInt32(truncatingIfNeeded: range.count)
    }

    init(_ text: String) {
        var (text, fields) = (text, HTTPFields())
        // What is empty, as all over HTTP/2 is, needs no memory.
        if !text.isEmpty { text.withUTF8 { fields.append(bytes: UnsafeRawBufferPointer($0)) } }
        self.init(of: fields, 0..<fields.byteCount)
    }

    var string: String { withBytes { FieldText.string($0) } }

    func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        fields.withEntries { body(UnsafeRawBufferPointer(rebasing: $1[Int(start)..<Int(start) + Int(count)])) }
    }

    @usableFromInline
    static func == (a: HeadText, b: HeadText) -> Bool {
        a.withBytes { a in b.withBytes { b in a.elementsEqual(b) } }
    }
}
