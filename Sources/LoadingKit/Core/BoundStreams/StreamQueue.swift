import Dispatch
import Foundation

/// Core Foundation's name of `InputStream`.
public typealias CFReadStream = InputStream

/// Core Foundation's name of `OutputStream`.
public typealias CFWriteStream = OutputStream

/// Has the delegate of a bound pair's input stream called on a queue, as with Apple's function of this name: see
/// ``CFWriteStreamSetDispatchQueue(_:_:)``.
public func CFReadStreamSetDispatchQueue(_ stream: CFReadStream?, _ queue: DispatchQueue?) {
    (stream as? BoundInputStream)?.schedule(on: queue)
}

/// Has the delegate of a bound pair's output stream called on a queue, as with Apple's function of this name. No thread
/// needs a run loop then.
///
///     output.delegate = writer
///     CFWriteStreamSetDispatchQueue(output, DispatchQueue(label: "writer"))
///     output.open()
///
/// The queue replaces the run loops in which the stream is scheduled. Events come in their order on a serial queue, and
/// none comes after the stream was closed.
///
/// It has no effect on a stream that is not of a bound pair (`Stream.getBoundStreams`): Foundation's own streams call no
/// delegate on Linux.
/// - Parameter queue: nil: the stream's run loops, if it is scheduled in one, are used again.
public func CFWriteStreamSetDispatchQueue(_ stream: CFWriteStream?, _ queue: DispatchQueue?) {
    (stream as? BoundOutputStream)?.schedule(on: queue)
}
