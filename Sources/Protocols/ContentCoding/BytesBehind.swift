/// Counts the bytes behind the end of a coding. They are ignored for every coding, as in other clients, because they
/// are mostly padding. A server that sends them without end causes an error.
struct BytesBehind {
    /// The limit in bytes: more than the largest record to which bodies are commonly padded.
    static let limit = 64 * 1024

    private var count: Int

    init(_ count: Int = 0) { self.count = count }

    /// Takes all remaining bytes of the input.
    mutating func take(_ input: UnsafeRawBufferPointer, _ position: inout Int) throws(ContentCodingError.Kind) {
        count += max(0, input.count - position)
        position = input.count
        guard count <= Self.limit else {
            throw .corrupt("more than \(Self.limit) bytes follow its end")
        }
    }
}
