extension FTPClientStateMachine {
    /// Records that the control connection is protected by TLS.
    public mutating func tlsDidStart() -> Action {
        guard case .login(.securing) = state else { return .wait }
        return send(.known("PBSZ", "0"), .login(.bufferSize))
    }

    /// Logs in a user. The password is nil if it is not known: the server may not require one.
    ///
    /// - Throws: ``FTPError/invalidArgument(command:)``; the state does not change.
    public mutating func logIn(user: [UInt8], password: [UInt8]?) throws(FTPError) -> Action {
        guard case .login(.anonymous) = state else { return .wait }
        let command = try FTPCommand("USER", user)
        _ = try FTPCommand("PASS", password)
        return send(command, .login(.user(password: password)))
    }

    mutating func loginReply(_ reply: FTPReply, _ kind: FTPReply.Kind, _ step: LoginStep) -> Action {
        let isDone = kind == .completion
        switch step {
        case .greeting: return isDone ? greet() : close(.serviceUnavailable, reply)
        case .auth:
            // 234. Some servers send 334, which RFC 2228 defines for other mechanisms.
            guard isDone || reply.code == 334 else { return close(.security, reply) }
            pause(.login(.securing))
            return .startTLS
        case .bufferSize:
            // PBSZ has no meaning for TLS, but must be sent before PROT (RFC 4217 §9). The reply to PROT decides.
            return send(.known("PROT", "P"), .login(.protection), as: "PROT P")
        case .protection: return isDone ? awaitUser() : close(.security, reply)
        case .user(let password): return userReply(reply, kind, password)
        case .password: return passwordReply(reply, kind)
        case .features:
            features = FTPFeatures(reply)
            guard features.contains("UTF8") else { return becomeReady() }
            return send(.known("OPTS", "UTF8 ON"), .login(.options))
        // Servers that always use UTF-8 may refuse this command.
        case .options: return becomeReady()
        case .securing, .anonymous: return unexpected(reply)
        }
    }

    private mutating func greet() -> Action {
        switch security {
        case .none: awaitUser()
        case .explicit: send(.known("AUTH", "TLS"), .login(.auth), as: "AUTH TLS")
        case .implicit: send(.known("PBSZ", "0"), .login(.bufferSize))
        }
    }

    private mutating func userReply(_ reply: FTPReply, _ kind: FTPReply.Kind, _ password: [UInt8]?) -> Action {
        switch kind {
        case .completion: return askFeatures()
        case .intermediate where reply.code == 331:
            guard let password else {
                pause(.login(.anonymous))
                return .tell(.givePassword)
            }
            guard let command = try? FTPCommand("PASS", password) else { return close(.login, reply) }
            return send(command, .login(.password))
        case .intermediate: return close(.account, reply)
        case .preliminary, .transientFailure, .permanentFailure: return refuseLogin(reply)
        }
    }

    private mutating func passwordReply(_ reply: FTPReply, _ kind: FTPReply.Kind) -> Action {
        switch kind {
        case .completion: askFeatures()
        case .intermediate: close(.account, reply)
        case .preliminary, .transientFailure, .permanentFailure: refuseLogin(reply)
        }
    }

    private mutating func awaitUser(after refusal: FTPRefusal? = nil) -> Action {
        pause(.login(.anonymous))
        return .tell(.logIn(refusal))
    }

    private mutating func refuseLogin(_ reply: FTPReply) -> Action {
        awaitUser(after: FTPRefusal(.login, reply, to: command))
    }

    private mutating func askFeatures() -> Action { send(.known("FEAT"), .login(.features)) }

    private mutating func becomeReady() -> Action {
        pause(.idle)
        return .tell(.ready)
    }
}
