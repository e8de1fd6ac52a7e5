import Foundation
import LoadingKitTransport
import Logging

/// A load that a handler runs: the request, and functions that report the response.
///
/// Its methods may be called from any task, in the order of the events. Events reported after the load's end are
/// dropped, and the method throws `CancellationError`.
public final class LoadContext: Sendable {
    /// The request to load.
    public let request: URLRequest

    /// The request's URL.
    public let url: URL

    /// The request's body, of any kind.
    public let body: LoadBody

    /// The task that the load belongs to.
    public let task: URLSessionTask

    /// The session that the load belongs to: data stored under this identity is for no other session. It is valid after
    /// the load's end.
    public let sessionIdentity: SessionIdentity

    /// The session that the load belongs to; nil after the task's end.
    @_spi(LoadingKitPlugins)
    public var session: URLSession? { task.session }

    /// The session's logger.
    public let logger: Logger

    /// The session's ``URLSessionConfiguration/maximumDecompressionRatio``. A handler that decodes received data
    /// applies it, as the built-in handlers do: after more than 32 MiB of decoded data.
    public let maximumDecompressionRatio: Int

    private let run: HandlerLoad
    private let credentialStorage: URLCredentialStorage?

    init(_ request: URLRequest, _ resources: LoadResources, run: HandlerLoad) {
        self.request = request
        self.run = run
        task = resources.task
        sessionIdentity = resources.core.identity
        logger = resources.core.logger
        maximumDecompressionRatio = resources.core.settings.maximumDecompressionRatio
        credentialStorage = resources.core.settings.credentialStorage
        url = request.url ?? URL(fileURLWithPath: "/")
        body = LoadBody(request, url: url)
    }

    /// The handlers after this one. An interceptor forwards requests to them.
    public var next: NextHandlers { NextHandlers(run: run) }

    /// A stored response for the request; nil when there is none, or the request must not be answered from the cache.
    public var cachedResponse: CachedURLResponse? { run.program.cachedResponse }

    /// Reports the response's head. It must come before the body's first bytes; a second response replaces the first.
    ///
    /// - Parameter policy: whether the session may store the response in its cache once the load has finished. It is
    ///   then available as ``cachedResponse``. The handler decides whether the stored response is still fresh.
    public func receive(
        _ response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy = .notAllowed
    ) async throws {
        try checkGoesOn(or: .response(response, policy))
        run.post(.response(response, policy))
    }

    /// Reports a piece of the response's body. Waits while the receiver is behind (suspended, or slower than this
    /// handler).
    public func receive(_ data: Data) async throws {
        try checkGoesOn(or: .data(data))
        if run.isFull { run.noteOverlap() }
        run.post(.data(data))
        guard run.isFull else { return }
        await run.waitForRoom()
        try checkGoesOn()
    }

    /// Passes a forwarded load's response to the session, with the rest of its body: the session receives the body as
    /// it arrives, and the body does not pass through the handler. Returns at the body's end.
    ///
    /// For a response that redirects (``LoadedResponse/redirection``) the delegate decides, as for any redirect. Where
    /// it accepts, the redirect is followed; where it declines, the response is received.
    ///
    /// - Parameters:
    ///   - loaded: a response of this load's ``next``.
    ///   - head: the head that the session gets in place of the response's own. One with another status or `Location`
    ///     than a redirect's is a response like any other, unless `target` is given. Nil: the response's own head, and
    ///     then that of a later response, where the load gives one.
    ///   - target: the request that follows a redirect, in place of ``LoadedResponse/redirection``: the same resource
    ///     with a URL of the handler's own. Where a server may not redirect to the response's own target, it may not
    ///     redirect to this one. Nil: the response's target.
    /// - Throws: the error of the forwarded load; `CancellationError` when this load is over, for example because the
    ///   redirect is followed.
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
        let reader = loaded.body.reader
        var restarts = 0
        try await receive(head)
        for try await piece in loaded.body {
            // A later response has replaced the one before and its body.
            if reader.restartsOfPiece != restarts {
                restarts = reader.restartsOfPiece
                try await receive(loaded.head(as: head))
            }
            try await receive(piece)
        }
        // It has no body.
        if reader.restarts != restarts { try await receive(loaded.head(as: head)) }
    }

    /// Requests that the session load another request instead, and ends this load.
    ///
    /// When the delegate declines, `response` becomes the load's response, without a body.
    /// - Throws: always `CancellationError`, because the handler has nothing more to do.
    public func redirect(to request: URLRequest, response: URLResponse) async throws -> Never {
        run.post(.redirect(request, response))
        throw CancellationError()
    }

    /// Passes an authentication challenge to the delegate, and returns its answer.
    public func challenge(
        _ challenge: URLAuthenticationChallenge
    ) async -> (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) {
        let run = run
        return await withCheckedContinuation { continuation in
            run.challenge(challenge) { continuation.resume(returning: ($0, $1)) }
        }
    }

    /// Requests a credential, or a decision about a server, from the delegate.
    ///
    /// - Parameters:
    ///   - space: the protection space of the credential.
    ///   - proposedCredential: the credential for `performDefaultHandling`. Default: on the first attempt, the default
    ///     credential for the space in the session's credential storage.
    ///   - previousFailureCount: the number of answers that were refused before.
    ///   - failureResponse: the response that refused the last answer.
    ///   - error: the error of the last attempt.
    /// - Returns: the disposition and the credential. For `performDefaultHandling` it is the proposed credential, if
    ///   there is one.
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
    /// - Parameter response: the head that replaces the stored response's head, where the handler has validated the
    ///   response and has a newer head: the response is then stored again with it. Nil leaves the head unchanged.
    /// - Throws: `CancellationError`, because the handler has nothing more to do; `URLError.resourceUnavailable` where
    ///   there is no stored response.
    public func useCachedResponse(updatedBy response: URLResponse? = nil) async throws -> Never {
        guard let cached = cachedResponse else {
            let failure = LoadFailure(.resourceUnavailable, "the cache has no response for the request")
            throw URLError(failure, url: url)
        }
        if let response {
            run.post(.response(response, cached.parts.storagePolicy))
            run.post(.data(cached.parts.data))
            run.post(.end(nil))
        } else {
            run.post(.cached(cached))
        }
        throw CancellationError()
    }

    /// Adds a transaction to the task's metrics. A load that reports none has one transaction with the times of its
    /// response.
    ///
    /// - Parameters:
    ///   - metrics: the transaction's metrics.
    ///   - request: the request that was sent; the load's request by default.
    ///   - response: the response to it.
    public func report(_ metrics: LoadMetrics, request: URLRequest? = nil, response: URLResponse? = nil) {
        run.report(metrics, request ?? self.request, response)
    }

    /// Reports the number of the request body's bytes that were sent since the last call.
    ///
    /// - Parameters:
    ///   - progress: the number of bytes.
    ///   - expected: the body's size in bytes; -1 when it is unknown.
    public func report(progress: Int, expected: Int64 = -1) {
        run.withReceiver { $0.didSendBody(progress, expected: expected) }
    }

    /// Runs `body` on a thread that may block, and returns its result.
    ///
    /// ``URLProtocolHandler/load(_:)`` must not block: it runs on one of Swift's few threads for tasks. A function that
    /// waits (reads a file, queries a database, takes a lock for long) or computes for long runs here instead:
    ///
    /// ```swift
    /// let row = try await load.offLoop { try database.row(named: name) }
    /// ```
    ///
    /// The threads are those of ``URLProtocolHandler/startLoading()``: at most 512 in the process. Where all are busy,
    /// `body` waits in order for a thread. `body` is not interrupted when the load is cancelled: this method returns
    /// when `body` does.
    ///
    /// - Parameter body: called once, on a thread that waits for nothing else.
    /// - Throws: the error of `body`; `CancellationError` where the load was cancelled before;
    ///   `URLError.resourceUnavailable` where the system cannot provide a thread.
    public func offLoop<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try Task.checkCancellation()
        return try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Value, any Error>) in
            BlockingPool.userCode.run(
                BlockingPool.Work({ continuation.resume(with: Result { try body() }) }) { [url] refusal in
                    let failure = LoadFailure(.resourceUnavailable, "offLoop(_:) has no thread: \(refusal)")
                    continuation.resume(throwing: URLError(failure, url: url))
                })
        }
    }

    /// Returns the result of a long computation of this library, which never waits for the program's code.
    package func computeOffLoop<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await BlockingPool.shared.result(of: body)
    }

    /// The reason for the load's end; nil until then. For a handler that is cancelled, or whose calls throw
    /// `CancellationError`.
    ///
    /// It is read on the session's event loop, where the event that ended the load has already been handled.
    public func ending() async -> LoadEnd? {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<LoadEnd?, Never>) in
            run.loop.perform { [run] in continuation.resume(returning: run.ending) }
        }
    }

    func end(_ error: (any Error)?) { run.post(.returned(error)) }

    /// The handler has waited for a free thread, and starts now.
    func leaveQueue() { run.withReceiver { $0.queueStateDidChange(isQueued: false) } }

    /// - Parameter event: the event that this call would post. After the load's end the contract is checked with it.
    private func checkGoesOn(or event: HandlerLoad.Event? = nil) throws {
        try Task.checkCancellation()
        guard run.isOver else { return }
        if let event { run.post(event) }
        throw CancellationError()
    }
}

extension HandlerLoad {
    /// Answers exactly once, also when the load ends before the delegate has answered.
    func challenge(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeAnswer) {
        typealias Answer = (URLSessionAuthChallengeDisposition, URLCredential?)
        let once = OnceAnswer<Answer>(otherwise: (.cancelAuthenticationChallenge, nil)) { answer($0.0, $0.1) }
        loop.perform { [self] in
            if !isOver { post(.challenge(challenge) { once.give(($0, $1)) }) }
        }
    }
}
