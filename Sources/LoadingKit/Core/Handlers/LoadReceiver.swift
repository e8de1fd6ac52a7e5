import Foundation
import LoadingKitTransport

/// Whether a handler may hand over more.
package enum Flow: Sendable {
    /// The receiver can take more now.
    case more
    /// The receiver is busy (suspended, undecided, behind): hand over no more until `receiverDidBecomeReady()`.
    case wait
}

/// Receives a load's events, on the session's event loop: a task's engine, or a handler that forwarded the request.
///
/// The order is: any number of `challenge` and `didSendBody`, then `receive(response)`, then body bytes, then `finish` or
/// `fail`, once; or `redirect` instead of a response. After `Flow.wait` only `finish` and `fail` may follow before
/// `LoopHandler.receiverDidBecomeReady()`.
package protocol LoadReceiver: ChallengeReceiver {
    func receive(_ response: URLResponse) -> Flow
    /// A response before the one that answers the request, such as 103 (RFC 9110 §15.2).
    func receive(informational response: HTTPURLResponse)
    /// Body bytes that are valid only during the call.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow
    func receive(_ data: Data) -> Flow
    /// Bytes of the body as they came, before its content codings are undone: what they are decoded to follows by
    /// `receive`. Valid only during the call.
    func receive(coded bytes: UnsafeRawBufferPointer)
    /// Memory for body bytes, so that a read from a socket needs no copy; `bodyBufferFilled` must follow. Nil: none to
    /// be had, use `receive`.
    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer?
    func bodyBufferFilled(_ count: Int) -> Flow

    /// Asks whether to load `request` instead. `decide` gets true, which ends this load, or false: then the handler goes
    /// on with the response that it has.
    ///
    /// - Parameter refusal: why what a server says may not lead to that URL: following it, as it is, ends the task so.
    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse,
        decide: @escaping (_ follows: Bool) -> Void)
    /// Asks for a fresh body stream, as the one given was read from.
    func requestNewBodyStream(_ give: @escaping (InputStream?) -> Void)
    /// Asks for a body stream whose first byte is that at `offset` of the body, as an upload goes on from there.
    func requestNewBodyStream(from offset: Int64, _ give: @escaping (InputStream?) -> Void)

    /// Asks what to store of a response that was received whole, before `finish`. `decide` gets what to store, or nil, once, on
    /// any thread, and stores it before it returns; it may be called after the load is over.
    func willCache(_ response: CachedURLResponse, decide: @escaping @Sendable (CachedURLResponse?) -> Void)

    func didSendBody(_ count: Int, expected: Int64)
    /// So many bytes of the body that were reported are sent again, with the rest: for a user whom the server has asked for, or on
    /// another connection.
    func bodyWillBeSentAgain(_ count: Int64)
    /// A byte was sent or received: the idle time starts anew.
    func noteActivity()
    /// Whether the load waits its turn for a connection; the idle time does not run meanwhile.
    func queueStateDidChange(isQueued: Bool)
    /// A transaction is over. Its record is made only where the receiver wants it.
    func collect(_ transaction: @autoclosure () -> TransactionRecord)

    func finish()
    func fail(_ error: any Error)

    /// Why the receiver ends the load, when it does so.
    var loadEnd: LoadEnd { get }
}

extension LoadReceiver {
    package func receive(coded bytes: UnsafeRawBufferPointer) {}

    package var loadEnd: LoadEnd { .released }
}

/// Puts challenges to a task's program, on the session's event loop.
package protocol ChallengeReceiver: AnyObject {
    /// Whether there is a delegate that can answer challenges; else their default handling is done.
    var answersChallenges: Bool { get }
    /// The task's own delegate, where challenges that concern a connection may reach it: what it decides is not for tasks
    /// with another one.
    var challengeDelegate: AnyObject? { get }
    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision)
    /// The challenge needs no answer any more, and one that comes is not heeded.
    func withdraw(_ challenge: URLAuthenticationChallenge)
}

/// The answer to an authentication challenge.
package typealias ChallengeDecision = (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

/// One run of a handler, driven from the session's event loop.
package protocol LoopHandler: AnyObject {
    func begin(_ receiver: any LoadReceiver)
    /// Ends the run: no event may follow. Called once, also after `finish` and `fail`.
    func end()
    /// The receiver has become busy: as if the last call had given `Flow.wait`.
    func receiverDidBlock()
    /// The receiver gave `Flow.wait` before, and can take more now.
    func receiverDidBecomeReady()
    /// What has not happened, where the load waits for its peer, in words for the error of a timeout: "no response came". Nil:
    /// no byte was sent or received.
    var stall: String? { get }
    /// Gives away the connection that the response, of which the head alone was received, has left to the program: no event
    /// may follow. Nil where the rest of the response is its body. Throws where the connection cannot be used.
    func takeConnection() throws -> TakenConnection?
}

extension LoopHandler {
    package var stall: String? { nil }

    package func takeConnection() throws -> TakenConnection? { nil }
}

/// A connection that carries another protocol from now on.
package struct TakenConnection {
    package let stream: ByteStream
    /// What was received behind the response.
    package let rest: [UInt8]
    /// Where the request's server is a proxy for the program: the other end of the tunnel.
    package var tunnel: Tunnel?

    package init(stream: ByteStream, rest: [UInt8]) {
        self.stream = stream
        self.rest = rest
    }

    /// The far end of a tunnel.
    package struct Tunnel {
        /// A name or an address, without brackets.
        package let host: String
        package let port: Int

        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }
}

/// What a load can use of its session.
package struct LoadResources {
    package let core: SessionCore
    /// The task that the load is for.
    package let task: URLSessionTask
    /// Where in the registry the handlers after this one begin.
    package let next: Int

    package var loop: EventLoop { core.loop }
}

/// A handler class with `load(_:)` that never blocks, nor computes for long: it runs on the session's event loop, whatever
/// keeps the threads busy that Swift runs tasks on.
package protocol LoopAwareHandler: URLProtocolHandler {}

/// A handler class whose instances run on the event loop themselves, never blocking it.
package protocol LoopNativeHandler: URLProtocolHandler {
    static func makeLoad(_ request: URLRequest, _ resources: LoadResources) -> any LoopHandler
    /// Whether the handler may have stored what answers the request. Without that a request whose policy is
    /// `returnCacheDataDontLoad` fails.
    static func hasStore(for request: URLRequest, _ resources: LoadResources) -> Bool
}

extension LoopNativeHandler {
    package static func hasStore(for request: URLRequest, _ resources: LoadResources) -> Bool { false }
}
