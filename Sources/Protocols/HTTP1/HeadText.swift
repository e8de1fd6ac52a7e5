import LoadingKitPrimitives

/// A piece of a message's first line: a range of the head's bytes, shared with its fields, that becomes a `String` when
/// someone asks.
struct HeadText: Sendable, Equatable {
    private let store: [UInt8]
    private let range: Range<Int>

    init(store: [UInt8], range: Range<Int>) {
        self.store = store
        self.range = range.clamped(to: 0..<store.count)
    }

    init(_ text: String) {
        store = Array(text.utf8)
        range = 0..<store.count
    }

    var string: String {
        store.withUnsafeBytes { FieldText.string(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    static func == (a: HeadText, b: HeadText) -> Bool { a.store[a.range] == b.store[b.range] }
}
