/// The decoder of one coding of a body. It allocates no memory before its first byte.
protocol CodingStream: AnyObject {
    /// Whether the body may end here.
    var isComplete: Bool { get }

    /// Decodes from `input`, whose position is advanced, into `output`. Returns the number of bytes written; 0 if all
    /// of the input is used. After an error, each further call throws it again.
    func decode(
        _ input: UnsafeRawBufferPointer, _ position: inout Int, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> Int
}

/// Counts the bytes behind the end of a coding. They are ignored for every coding, as in other clients, because they
/// are mostly padding. A server that sends them without end causes an error.
struct BytesBehind {
    /// The limit in bytes: more than the largest record to which bodies are commonly padded.
    static let limit = 64 * 1024

    private var count: Int

    init(_ count: Int = 0) { self.count = count }

    /// Takes all remaining bytes of the input. Returns an error if there are too many.
    mutating func take(_ input: UnsafeRawBufferPointer, _ position: inout Int) -> ContentCodingError.Kind? {
        count += max(0, input.count - position)
        position = input.count
        return count <= Self.limit ? nil : .corrupt("more than \(Self.limit) bytes follow its end")
    }
}
