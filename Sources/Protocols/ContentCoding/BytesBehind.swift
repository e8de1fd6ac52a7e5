/// Counts what follows the end of a coding. It is ignored, whatever the coding, as every client does: it is
/// padding, most often. A server that goes on for ever is an error all the same.
struct BytesBehind {
    /// More than the largest record that a body is commonly padded to, in bytes.
    static let limit = 64 * 1024

    private var count: Int

    init(_ count: Int = 0) { self.count = count }

    /// Takes all that is left of the input.
    mutating func take(_ input: UnsafeRawBufferPointer, _ position: inout Int) throws(ContentCodingError.Kind) {
        count += max(0, input.count - position)
        position = input.count
        guard count <= Self.limit else {
            throw .corrupt("more than \(Self.limit) bytes follow its end")
        }
    }
}
