import Foundation

extension Stream {
    /// Makes two streams of which one reads what is written to the other, as Apple's function of this name does: for an
    /// upload whose body is made while it is sent.
    ///
    ///     var input: InputStream?
    ///     var output: OutputStream?
    ///     Stream.getBoundStreams(withBufferSize: 4096, inputStream: &input, outputStream: &output)
    ///
    /// Both block a thread that reads or writes too early; in a run loop (`schedule(in:forMode:)`) the delegate is told
    /// when they would not. Close the output stream when all is written: that is the end of the input.
    ///
    /// A session that sends the input as a request's body is told when it has bytes: an upload that waits for its producer
    /// costs no thread. Any other stream is read on a thread for the program's code (``URLProtocolHandler``).
    ///
    /// - Parameter bufferSize: how many bytes may be written before they are read; at least 1.
    public class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: inout InputStream?, outputStream: inout OutputStream?
    ) {
        let pipe = BoundPipe(capacity: bufferSize)
        inputStream = BoundInputStream(pipe)
        outputStream = BoundOutputStream(pipe)
    }
}
