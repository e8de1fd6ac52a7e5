/// Where the same message is written again and again.
final class OutputBuffer {
    private(set) var bytes: [UInt8] = []

    /// Has `write` append the message to the empty buffer; gives its length.
    @inline(__always)
    func fill(_ write: (inout [UInt8]) throws -> Void) rethrows -> Int {
        bytes.removeAll(keepingCapacity: true)
        try write(&bytes)
        return bytes.count
    }
}
