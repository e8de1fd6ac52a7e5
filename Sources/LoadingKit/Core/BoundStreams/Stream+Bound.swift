import Foundation

extension Stream {
    /// Makes two streams of which one reads what is written to the other, as Apple's function of this name does: for an
    /// upload whose body is made while it is sent.
    ///
    ///     var input: InputStream?
    ///     var output: OutputStream?
    ///     Stream.getBoundStreams(withBufferSize: 4096, inputStream: &input, outputStream: &output)
    ///
    /// A read blocks its thread until there are bytes, and a write until there is room. A stream that is scheduled in a
    /// run loop (`schedule(in:forMode:)`) calls its delegate when a read or write would not block. Close the output
    /// stream when all is written: then the input stream ends.
    ///
    /// An upload whose body is the input stream occupies no thread while it waits for bytes. Every other kind of stream
    /// is read on a thread for the program's code.
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
