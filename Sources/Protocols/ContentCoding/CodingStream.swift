/// One coding of a body, undone while it is received. It takes no memory before it is given a byte.
protocol CodingStream: AnyObject {
    /// Whether the body may end here.
    var isComplete: Bool { get }

    /// Decodes from `input`, whose position moves, into `output`; gives how many bytes were put there. None: all of the
    /// input is used.
    ///
    /// An error is thrown again by each call that follows it.
    func decode(
        _ input: UnsafeRawBufferPointer, _ position: inout Int, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> Int
}
