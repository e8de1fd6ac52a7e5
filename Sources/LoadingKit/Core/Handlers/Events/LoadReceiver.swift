import Foundation

/// Receives a load's events, on the session's event loop: a task's engine, or a handler that forwarded the request.
///
/// The order is: any number of `challenge` and `didSendBody`, then `receive(response)`, then body bytes, then `finish`
/// or `fail`, once; or `redirect` instead of a response. After `Flow.wait` only `finish` and `fail` may follow before
/// `LoopHandler.receiverDidBecomeReady()`.
package protocol LoadReceiver: ChallengeReceiver {
    func receive(_ response: URLResponse) -> Flow
    /// An interim response before the final one, such as 103 (RFC 9110 §15.2).
    func receive(informational response: HTTPURLResponse)
    /// Body bytes that are valid only during the call.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow
    func receive(_ data: Data) -> Flow
    /// Bytes of the body before its content codings are decoded; the decoded bytes follow through `receive`. Valid only
    /// during the call.
    func receive(coded bytes: UnsafeRawBufferPointer)
    /// Memory for body bytes, so that a read from a socket needs no copy; a call of `bodyBufferFilled` must follow.
    /// Nil: no memory is available, use `receive`.
    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer?
    func bodyBufferFilled(_ count: Int) -> Flow

    /// Reports a redirect to `request`. `decide` gets true to follow it, which ends this load, or false: then the
    /// handler continues with the response that it has.
    ///
    /// - Parameter refusal: the reason why the server's response must not lead to that URL. Following the unchanged
    ///   redirect ends the task with this failure.
    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse,
        decide: @escaping (_ follows: Bool) -> Void)
    /// Requests a new body stream, because bytes of the present one were already read. Nil: there is none.
    ///
    /// - Parameter offset: the byte of the body at which an upload resumes; nil for the whole body.
    func requestNewBodyStream(from offset: Int64?, _ give: @escaping (InputStream?) -> Void)

    /// Reports a completely received response that is about to be stored, before `finish`. `decide` gets the response
    /// to store, or nil, once, on any thread, and stores it before it returns. It may be called after the end of the
    /// load.
    func willCache(_ response: CachedURLResponse, decide: @escaping @Sendable (CachedURLResponse?) -> Void)

    func didSendBody(_ count: Int, expected: Int64)
    /// `count` reported bytes of the body are sent again, with the rest: with the credential that the server has
    /// required, or on another connection.
    func bodyWillBeSentAgain(_ count: Int64)
    /// A byte was sent or received: the idle timeout starts again.
    func noteActivity()
    /// Whether the load waits in the queue for a connection, or until it may ask its server again; the idle timeout
    /// does not run meanwhile.
    func queueStateDidChange(isQueued: Bool)
    /// A transaction has ended. Its record is made only where the receiver uses it.
    func collect(_ transaction: @autoclosure () -> TransactionRecord)

    func finish()
    func fail(_ error: any Error)

    /// The reason why the receiver ends the load, when it does so.
    var loadEnd: LoadEnd { get }
}

extension LoadReceiver {
    package func receive(coded bytes: UnsafeRawBufferPointer) {}

    package var loadEnd: LoadEnd { .released }
}

/// Passes challenges to a task's program, on the session's event loop.
package protocol ChallengeReceiver: AnyObject {
    /// Whether there is a delegate that can answer challenges; otherwise the default handling applies.
    var answersChallenges: Bool { get }
    /// The task's own delegate, where challenges that concern a connection may reach it: its decision does not apply to
    /// tasks with another delegate.
    var challengeDelegate: AnyObject? { get }
    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision)
    /// The question needs no answer any longer; a later answer is ignored.
    ///
    /// - Parameter question: the challenge, or the response that redirects.
    func withdraw(_ question: AnyObject)
}

/// The answer to an authentication challenge.
package typealias ChallengeDecision = (URLSessionAuthChallengeDisposition, URLCredential?) -> Void

/// One run of a handler, driven from the session's event loop.
package protocol LoopHandler: AnyObject {
    func begin(_ receiver: any LoadReceiver)
    /// Ends the run: no event may follow. Called once, also after `finish` and `fail`.
    func end()
    /// The receiver has become busy, as if the last call had returned `Flow.wait`.
    func receiverDidBlock()
    /// The receiver had returned `Flow.wait`, and has room again.
    func receiverDidBecomeReady()
    /// The event that the load has not received from its peer, in words for the error of a timeout: "no response came".
    /// Nil: no byte was sent or received.
    var stall: String? { get }
    /// Whether all of the request that is under way was sent to the peer, with its body. False where this is not known.
    var isRequestSent: Bool { get }
    /// The peer was silent for the request's timeout. Returns true where the load answers in another way than with its
    /// peer's response, such as with a stored one; otherwise the task fails.
    func answerAtDeadline() -> Bool
    /// Hands over the connection after the response's head, for another protocol: no event may follow. Nil where the
    /// rest of the response is its body. Throws where the connection cannot be used.
    func takeConnection() throws -> TakenConnection?
}

extension LoopHandler {
    package var stall: String? { nil }

    package var isRequestSent: Bool { false }

    package func answerAtDeadline() -> Bool { false }

    package func takeConnection() throws -> TakenConnection? { nil }
}

/// A load whose request waits for a connection, in the order of the tasks' priorities.
package protocol QueuedLoad: AnyObject {
    func priorityDidChange()
}

/// Whether a handler may deliver more.
package enum Flow: Sendable {
    /// The receiver has room.
    case more
    /// The receiver is busy (suspended, undecided, behind): deliver no more until `receiverDidBecomeReady()`.
    case wait
}
