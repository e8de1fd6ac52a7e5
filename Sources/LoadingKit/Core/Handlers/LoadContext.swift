import Foundation
import LoadingKitTransport
import Logging

/// A load that a handler runs: the request, and functions for what is received.
///
/// Its methods may be called from any task, in the order in which things happen. What is told after the load has
/// ended is dropped, and throws `CancellationError`.
public final class LoadContext: Sendable {
    /// The request to load.
    public let request: URLRequest

    /// The request's URL.
    public let url: URL

    /// The request's body, whatever the caller gave it as.
    public let body: LoadBody

    /// The task that the load is for.
    public let task: URLSessionTask

    /// The session that the load belongs to: what is kept under it is for no other session. It is valid after the load's end.
    public let sessionIdentity: SessionIdentity

    /// The session's logger.
    public let logger: Logger

    /// What ``URLSessionConfiguration/maximumDecompressionRatio`` of the session is. A handler that decodes what it receives keeps
    /// to it, as the built-in ones do: when it has decoded more than 32 MiB.
    public let maximumDecompressionRatio: Int

    private let run: CustomLoad
    private let credentialStorage: URLCredentialStorage?

    init(_ request: URLRequest, _ resources: LoadResources, run: CustomLoad) {
        self.request = request
        self.run = run
        task = resources.task
        sessionIdentity = resources.core.identity
        logger = resources.core.logger
        maximumDecompressionRatio = resources.core.settings.maximumDecompressionRatio
        credentialStorage = resources.core.settings.credentialStorage
        url = request.url ?? URL(fileURLWithPath: "/")
        body = LoadBody(request)
    }

    /// The handlers that are asked after this one. An interceptor forwards to them.
    public var next: NextHandlers { NextHandlers(run: run) }

    /// A stored response for the request; nil when there is none, or the request is not to be answered from the cache.
    public var cachedResponse: CachedURLResponse? { run.program.cachedResponse }

    /// Tells the response's head. Must come before the body's first bytes; a second response replaces the first.
    ///
    /// - Parameter policy: whether the session may keep the response in its cache once the load has finished, from
    ///   where it comes back as ``cachedResponse``. Whether it is still good then is for the handler to say.
    public func receive(
        _ response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy = .notAllowed
    ) async throws {
        try checkGoesOn()
        run.post(.response(response, policy))
    }

    /// Tells a piece of the response's body. Waits while the receiver is behind (suspended, or slower than this).
    public func receive(_ data: Data) async throws {
        try checkGoesOn()
        run.post(.data(data))
        guard run.isFull else { return }
        await run.waitForRoom()
        try checkGoesOn()
    }

    /// Gives the session a forwarded load's response, with what is left of its body: the session receives that as it comes,
    /// and it does not pass through the handler. Returns at its end.
    ///
    /// A response that redirects (``LoadedResponse/redirection``) is put to the delegate, as any redirect is, and followed. Where
    /// the delegate declines, it is received.
    ///
    /// - Parameters:
    ///   - loaded: of this load's ``next``.
    ///   - head: what the session gets in place of the response's own head. Nil for that.
    ///   - target: what a redirect leads to in place of ``LoadedResponse/redirection``: the same place by a URL of the handler's
    ///     own. Where a server may not redirect to the response's own target, it may not to this one. Nil for the response's.
    /// - Throws: what the forwarded load fails with; `CancellationError` when this load is over, because the redirect is followed
    ///   for example.
    public func receive(
        _ loaded: LoadedResponse, as head: URLResponse? = nil, redirectingTo target: URLRequest? = nil
    ) async throws {
        try checkGoesOn()
        let (load, head) = (loaded.load, head ?? loaded.response)
        guard load.isForwarded(by: run) else { return try await receive(fromElsewhere: loaded, as: head) }
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                run.post(.passed(PassedResponse(loaded, as: head, redirectingTo: target, continuation)))
            }
        } onCancel: {
            load.cancel()
        }
    }

    /// The other load may belong to another session, and its event loop.
    private func receive(fromElsewhere loaded: LoadedResponse, as head: URLResponse) async throws {
        try await receive(head)
        for try await piece in loaded.body { try await receive(piece) }
    }

    /// Asks the session to load another request instead, and ends this load.
    ///
    /// When the delegate declines, `response` becomes the load's response, with no body.
    /// - Throws: `CancellationError`, always, as there is nothing more for the handler to do.
    public func redirect(to request: URLRequest, response: URLResponse) async throws -> Never {
        run.post(.redirect(request, response))
        throw CancellationError()
    }

    /// Asks the delegate to answer an authentication challenge.
    public func challenge(
        _ challenge: URLAuthenticationChallenge
    ) async -> (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) {
        let run = run
        return await withCheckedContinuation { continuation in
            run.challenge(challenge) { continuation.resume(returning: ($0, $1)) }
        }
    }

    /// Asks the delegate for a credential, or for a decision about a server.
    ///
    /// - Parameters:
    ///   - space: what the credential is for.
    ///   - proposedCredential: what is tried where the delegate has it so (`performDefaultHandling`). By default, the first
    ///     time, the default credential that the session's credential storage has for the space.
    ///   - previousFailureCount: how many answers were refused before.
    ///   - failureResponse: the response that refused the last one.
    ///   - error: what the last try failed with.
    /// - Returns: what to do. For `performDefaultHandling` the credential is the proposed one, if there is one.
    public func challenge(
        for space: URLProtectionSpace, proposedCredential: URLCredential? = nil, previousFailureCount: Int = 0,
        failureResponse: URLResponse? = nil, error: (any Error)? = nil
    ) async -> (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) {
        let stored = previousFailureCount == 0 ? credentialStorage?.defaultCredential(for: space) : nil
        let proposed = proposedCredential ?? stored
        let answer = await challenge(
            URLAuthenticationChallenge(
                protectionSpace: space, proposedCredential: proposed, previousFailureCount: previousFailureCount,
                failureResponse: failureResponse, error: error))
        return answer.disposition == .performDefaultHandling ? (.performDefaultHandling, proposed) : answer
    }

    /// Answers the load with ``cachedResponse``, and ends it.
    ///
    /// - Parameter response: what replaces the stored response's head, where the handler has validated it and knows a newer
    ///   one: the response is stored again with that. Nil to leave it as it is.
    /// - Throws: `CancellationError`, as there is nothing more for the handler to do; `URLError.resourceUnavailable` where there
    ///   is no stored response.
    public func useCachedResponse(updatedBy response: URLResponse? = nil) async throws -> Never {
        guard let cached = cachedResponse else {
            throw LoadFailure(.resourceUnavailable, "the cache has no response for the request")
        }
        if let response {
            run.post(.response(response, cached.storagePolicy))
            run.post(.data(cached.data))
            run.post(.end(nil))
        } else {
            run.post(.cached(cached))
        }
        throw CancellationError()
    }

    /// Adds a transaction to the task's metrics. A load that reports none has one with the times of its response.
    ///
    /// - Parameters:
    ///   - metrics: what is known of it.
    ///   - request: what was sent; the load's request by default.
    ///   - response: what it was answered with.
    public func report(_ metrics: LoadMetrics, request: URLRequest? = nil, response: URLResponse? = nil) {
        run.report(metrics, request ?? self.request, response)
    }

    /// Tells how many bytes of the request's body were sent since the last call.
    ///
    /// - Parameters:
    ///   - progress: bytes.
    ///   - expected: the body's size in bytes; -1 when it is not known.
    public func report(progress: Int, expected: Int64 = -1) {
        run.withReceiver { $0.didSendBody(progress, expected: expected) }
    }

    /// What `body` gives, which computes for long, for a handler that runs on the session's event loop.
    package func offLoop<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await BlockingPool.shared.result(of: body)
    }

    /// Why the load has ended; nil while it goes on. For a handler that is cancelled, or whose calls throw `CancellationError`.
    ///
    /// It is asked on the session's event loop, which has done by then what ended the load.
    public func ending() async -> LoadEnd? {
        await withUnsafeContinuation { continuation in
            run.loop.perform { [run] in continuation.resume(returning: run.ending) }
        }
    }

    func end(_ error: (any Error)?) { run.post(.returned(error)) }

    /// The handler has waited until a thread was free, and begins now.
    func leaveQueue() { run.withReceiver { $0.queueStateDidChange(isQueued: false) } }

    private func checkGoesOn() throws {
        try Task.checkCancellation()
        if run.isOver { throw CancellationError() }
    }
}

extension CustomLoad {
    /// Answers exactly once, also when the load ends before the delegate has decided.
    func challenge(
        _ challenge: URLAuthenticationChallenge,
        _ answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let once = LoopTransfer(OnceAnswer(answer))
        loop.perform { [self] in
            guard !isOver else { return once.value.give(.cancelAuthenticationChallenge, nil) }
            post(.challenge(challenge) { once.value.give($0, $1) })
        }
    }
}

/// Gives one answer, the first; without one, a cancellation.
private final class OnceAnswer {
    private var answer: (@Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)?

    init(_ answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) {
        self.answer = answer
    }

    func give(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        answer?(disposition, credential)
        answer = nil
    }

    deinit { answer?(.cancelAuthenticationChallenge, nil) }
}
