import LoadingKitTransport

/// The subject of an event, as the inspector and logs name it.
package enum SessionEventKind: String, Sendable {
    case task, load, cache, cookie, queue, retry, redirect, challenge, connection
}

/// Events in plain words.
extension SessionEvent {
    package var kind: SessionEventKind {
        switch self {
        case .taskBegan, .taskSucceeded, .taskFailed: .task
        case .loadBegan, .responded: .load
        case .cache: .cache
        case .cookiesSent, .cookieStored, .cookieRefused: .cookie
        case .queued: .queue
        case .retried: .retry
        case .redirected: .redirect
        case .challenged, .challengeAnswered: .challenge
        case .requestBegan, .connectionFailed, .connect, .connectionOpened, .connectionClosed: .connection
        }
    }

    package var text: String {
        switch self {
        case .taskBegan: "the task begins"
        case .taskSucceeded(let bytes): "the task has ended, with \(bytes) bytes"
        case .taskFailed(0): "the task has failed with an error of its handler"
        case .taskFailed(let code): "the task has failed with URLError \(code)"
        case .loadBegan: "the load begins"
        case .cache(let decision): decision.text
        case .cookiesSent: "the session's cookies are sent"
        case .cookieStored: "the cookie is stored"
        case .cookieRefused(let refusal): "the cookie is not stored: \(refusal.text)"
        case .queued: "waits for a connection"
        case .requestBegan(let isReused): "the request is sent on \(isReused ? "a used" : "a new") connection"
        case .responded(let status): "status \(status)"
        case .retried(let reason): "the request is sent again: \(reason.text)"
        case .redirected(let status): "redirected with status \(status)"
        case .challenged(let kind): "challenged for \(kind.text)"
        case .challengeAnswered(let outcome): "the challenge is answered: \(outcome.text)"
        case .connectionFailed: "no connection was opened"
        case .connect(let step): step.text
        case .connectionOpened(let kind): "open for \(kind.text)"
        case .connectionClosed(let end): end.text
        }
    }
}

extension CacheDecision {
    package var text: String {
        switch self {
        case .fresh: "answered from the cache: the stored response is fresh"
        case .staleWhileRevalidate:
            "answered from the cache: the stored response is stale, and is validated meanwhile (stale-while-revalidate)"
        case .staleIfError: "answered from the cache: the server has failed, and stale-if-error allows it"
        case .anyAge: "answered from the cache: the request's policy takes stored responses of any age"
        case .validated: "answered from the cache: the server has confirmed the stored response (304)"
        case .nothingStored: "not in the cache"
        case .nothingForRequest: "stored responses are for other fields (Vary), or for another user"
        case .needsValidation: "stored, and the server is asked: it is stale, or no-cache or the policy requires it"
        case .completesPart: "a part is stored, and the rest is requested"
        case .lookUpExcluded: "the cache is not asked: the policy or no-store excludes it"
        case .notLookedUp: "the cache is not asked: no stored response answers such a request"
        case .unavailable: "not in the cache, and the request allows no other source"
        case .changed: "the stored response was replaced: the server has another version"
        case .stored: "stored"
        case .notStoredMethod: "not stored: the request's method"
        case .notStoredStatus: "not stored: the response's status"
        case .notStoredNoStore: "not stored: no-store"
        case .notStoredNoLifetime: "not stored: no lifetime is stated, and the status allows none to be estimated"
        case .notStoredVary: "not stored: Vary: *"
        case .notStoredUntrusted: "not stored: the server's certificate was not trusted"
        case .notStoredUser: "not stored: it is for one user, who is not known"
        case .notStoredPart: "not stored: a part that cannot be joined with others"
        case .notStoredSize: "not stored: it is larger than the cache accepts"
        case .notStoredIncomplete: "not stored: it ended early"
        case .notStoredProgram: "not stored: the program has refused (willCacheResponse)"
        case .notStoredRemoved: "not stored: its URL's responses were removed meanwhile"
        }
    }
}

extension CookieRefusal {
    package var text: String {
        switch self {
        case .policy: "the accept policy"
        case .invalid: "the field cannot be read, or the cookie is too long"
        case .otherDomain: "its Domain is neither the host nor a domain above it"
        case .publicSuffix: "its Domain is a public suffix"
        case .insecure: "it is Secure, or would hide a cookie that is, and the connection has no TLS"
        case .prefix: "the rules of its name's prefix, or its Domain"
        case .sameSite: "SameSite: the request comes from another site, or None without Secure"
        }
    }
}

extension RetryReason {
    package var text: String {
        switch self {
        case .connectionLost: "the connection was lost before the server answered"
        case .notProcessed: "the server has not processed it"
        case .authentication: "with an answer to the challenge"
        case .expectationRefused: "the server does not support Expect (417)"
        case .anotherRoute: "over another proxy, or without one"
        }
    }
}

extension ChallengeKind {
    package var text: String {
        switch self {
        case .serverTrust: "trust in the server"
        case .clientCertificate: "a client certificate"
        case .basic: "a credential (Basic)"
        case .digest: "a credential (Digest)"
        case .ntlm: "a credential (NTLM)"
        case .negotiate: "a credential (Negotiate)"
        case .proxy: "a credential for the proxy"
        case .other: "a credential"
        }
    }
}

extension ChallengeOutcome {
    package var text: String {
        switch self {
        case .credential: "with a credential"
        case .defaultHandling: "as without a delegate"
        case .cancelled: "cancelled"
        case .rejected: "rejected, the next one may be answered"
        }
    }
}

extension ConnectionProtocol {
    package var text: String {
        switch self {
        case .http1: "HTTP/1.1"
        case .http2: "HTTP/2"
        case .ftp: "FTP"
        case .stream: "a stream task"
        }
    }
}

extension ConnectionEnd {
    package var text: String {
        switch self {
        case .idle: "closed: idle for too long, or one of too many"
        case .lost: "closed by the peer, or failed"
        case .retired: "takes no further requests: the server or its age ends it"
        case .unusable: "closed: a load left it in no state for another request"
        case .sessionEnded: "closed: the session has ended"
        case .taken: "taken over by the program"
        }
    }
}

extension ConnectStep {
    package var text: String {
        switch self {
        case .lookUpBegan: "looking up the name"
        case .lookUpEnded(0): "the name has no address"
        case .lookUpEnded(let count): "\(count) address\(count == 1 ? "" : "es") found"
        case .connecting(let address, let port):
            "connecting to \(address.map { SocketAddress.ip($0, port: port).description } ?? "the Unix socket")"
        case .connectFailed(let address, let code):
            "no connection to \(address?.description ?? "the Unix socket")"
                + (code == 0 ? "" : ": \(SystemCalls.text(ofError: code))")
        case .connected(let address): "connected to \(address?.description ?? "the Unix socket")"
        case .handshakeBegan: "the TLS handshake begins"
        case .handshakeEnded(0x0304): "TLS 1.3"
        case .handshakeEnded(0x0303): "TLS 1.2"
        case .handshakeEnded(let version): "TLS \(version)"
        case .failed(let phase): "failed while \(phase.text)"
        case .cancelled: "no longer needed"
        }
    }
}

extension ConnectPhase {
    package var text: String {
        switch self {
        case .lookUp: "the name was looked up"
        case .connect: "connecting"
        case .handshake: "TLS was negotiated"
        }
    }
}
