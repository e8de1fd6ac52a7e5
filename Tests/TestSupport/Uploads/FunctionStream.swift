import Foundation

/// A stream of a program's own, as a body: its bytes are those that a function gives.
package final class FunctionStream: InputStream {
    private let give: (_ buffer: UnsafeMutablePointer<UInt8>, _ room: Int) -> Int
    private var status = Stream.Status.notOpen

    /// - Parameter give: fills the buffer, and returns the number of bytes: 0 at the end, and -1 for an error.
    package init(_ give: @escaping (_ buffer: UnsafeMutablePointer<UInt8>, _ room: Int) -> Int) {
        self.give = give
        super.init(data: Data())
    }

    override package var streamStatus: Stream.Status { status }
    override package var streamError: (any Error)? { nil }
    override package var hasBytesAvailable: Bool { true }
    override package func open() { status = .open }
    override package func close() { status = .closed }
    override package func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int { give(buffer, len) }
    override package func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }
    override package func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
    override package func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}
