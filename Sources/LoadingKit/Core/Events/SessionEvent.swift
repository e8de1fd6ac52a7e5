import LoadingKitPrimitives
import LoadingKitTransport

/// Something that has happened in a session, for its flight recorder, its statistics and the inspector. It has no
/// references: events are kept without an allocation.
package enum SessionEvent: BitwiseCopyable, Sendable {
    // MARK: Of a task

    case taskBegan
    /// Bytes of the body as the program gets them.
    case taskSucceeded(bytes: Int64)
    /// With the code of the `URLError`; 0 where a handler of the program failed with an error of its own.
    case taskFailed(code: Int32)

    // MARK: Of a load

    /// The load of a request has begun: the first one of a task, or one after a redirect.
    case loadBegan
    case cache(CacheDecision)
    /// The session's cookies were added to the request.
    case cookiesSent
    case cookieStored
    case cookieRefused(CookieRefusal)
    /// The load waits for a connection: none is idle.
    case queued
    /// The request is being sent on the event's connection.
    case requestBegan(isReusedConnection: Bool)
    /// The head of the final response has been received.
    case responded(status: UInt16)
    /// The request is sent again.
    case retried(RetryReason)
    case redirected(status: UInt16)
    case challenged(ChallengeKind)
    case challengeAnswered(ChallengeOutcome)
    /// The attempt to open the event's connection has failed, and the load waited for it.
    case connectionFailed

    // MARK: Of a connection

    case connect(ConnectStep)
    /// The connection can carry requests.
    case connectionOpened(ConnectionProtocol)
    case connectionClosed(ConnectionEnd)
}

/// The protocol of a connection.
package enum ConnectionProtocol: UInt8, BitwiseCopyable, Sendable {
    case http1, http2, ftp, stream
}

/// The reason why a connection has ended.
package enum ConnectionEnd: UInt8, BitwiseCopyable, Sendable {
    /// It was idle for too long, or one idle connection too many.
    case idle
    /// The peer has closed it, or it has failed.
    case lost
    /// The server accepts no further requests on it (GOAWAY, `Connection: close`).
    case retired
    /// A response or the end of a load left it in no state to carry another request.
    case unusable
    case sessionEnded
    /// The program has taken it over.
    case taken
}

/// The reason why a request is sent again.
package enum RetryReason: UInt8, BitwiseCopyable, Sendable {
    /// The connection was lost before the server answered.
    case connectionLost
    /// The server has not processed the request: it closes the connection (GOAWAY, or 408 as it was idle), or refuses
    /// the stream.
    case notProcessed
    /// With an answer to a challenge.
    case authentication
    /// The server does not support `Expect` (417).
    case expectationRefused
    /// Over another proxy, or directly.
    case anotherRoute
}

/// The kind of answer that a challenge asks for.
package enum ChallengeKind: UInt8, BitwiseCopyable, Sendable {
    case serverTrust, clientCertificate, basic, digest, ntlm, negotiate, proxy, other
}

/// How a program or the session has answered a challenge.
package enum ChallengeOutcome: UInt8, BitwiseCopyable, Sendable {
    case credential, defaultHandling, cancelled, rejected
}

/// The reason why a cookie was not stored (RFC 6265bis §5.7).
package enum CookieRefusal: UInt8, Error, BitwiseCopyable, Sendable {
    /// The storage's or the session's policy.
    case policy
    /// The field cannot be read, or the name, the value or the path is too long.
    case invalid
    /// `Domain` is neither the host nor a domain above it.
    case otherDomain
    case publicSuffix
    /// `Secure` over a connection without TLS, or a secure cookie has the name.
    case insecure
    /// The rules of the prefixes `__Host-` and `__Secure-`.
    case prefix
    /// `SameSite`, in a request from another site.
    case sameSite
}

/// A decision of a session's cache, with the reason.
package enum CacheDecision: UInt8, BitwiseCopyable, Sendable, CaseIterable {
    // MARK: A stored response is used

    case fresh
    /// It is stale, and validated in the background (`stale-while-revalidate`).
    case staleWhileRevalidate
    /// It is stale, and the server has failed (`stale-if-error`).
    case staleIfError
    /// The policy asks for it, at any age.
    case anyAge
    /// The server has confirmed it (304).
    case validated

    // MARK: None is used

    case nothingStored
    /// Stored responses are for other values of the fields in `Vary`, or for another user.
    case nothingForRequest
    /// It is stale, or `no-cache` or the policy requires a validation: the server is asked.
    case needsValidation
    /// A part is stored: the rest is requested.
    case completesPart
    /// The policy or `no-store` excludes stored responses.
    case lookUpExcluded
    /// The method, or a body: no stored response answers such a request.
    case notLookedUp
    /// `only-if-cached` or `returnCacheDataDontLoad`, and no stored response can be used.
    case unavailable
    /// The server has another version than the one that was validated.
    case changed

    // MARK: A response is stored, or not

    case stored
    case notStoredMethod
    case notStoredStatus
    /// `no-store` of the request or the response.
    case notStoredNoStore
    /// It has no lifetime and no status that allows one to be estimated.
    case notStoredNoLifetime
    /// `Vary: *`.
    case notStoredVary
    /// The server's certificate was not trusted.
    case notStoredUntrusted
    /// It is for one user, and the user cannot be told from others.
    case notStoredUser
    /// A part that cannot be joined with others.
    case notStoredPart
    /// It is larger than the cache accepts.
    case notStoredSize
    /// It ended early.
    case notStoredIncomplete
    /// The delegate has refused (`willCacheResponse`).
    case notStoredProgram
    /// The responses of its URL were removed while it was loaded.
    case notStoredRemoved
}

/// An event with its time and place.
package struct SessionEventRecord: BitwiseCopyable, Sendable {
    /// The start of the event loop's turn.
    package let time: MonotonicTime
    /// The identifier of the task; 0 where it is of none.
    package let task: Int32
    /// The number of the connection in its session; 0 where it is of none.
    package let connection: UInt32
    package let event: SessionEvent

    package init(time: MonotonicTime, task: Int32 = 0, connection: UInt32 = 0, event: SessionEvent) {
        (self.time, self.task, self.connection, self.event) = (time, task, connection, event)
    }
}
