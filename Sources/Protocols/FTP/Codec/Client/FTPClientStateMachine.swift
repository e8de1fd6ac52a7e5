/// The client side of a control connection (RFC 959, 2228, 2389, 2428, 3659, 4217), from the greeting to the last
/// transfer.
///
///     greeting → (AUTH TLS → TLS → PBSZ → PROT) → log in (USER → PASS) → FEAT → (OPTS) → idle
///     idle → (TYPE) → (PWD → CWD …) → (SIZE → MDTM → facts) → EPSV or PASV → data connection → (REST) → RETR, … → idle
///
/// Each input is a method that returns the one action to perform. The state machine has no connection, and reads no
/// clock. A transfer that fails leaves the connection ready for another transfer, unless the action is
/// ``Action/close(_:)``.
public struct FTPClientStateMachine: Sendable {
    let security: Security
    private let limits: FTPLimits
    var state = State.login(.greeting)
    /// The name of the command whose reply is expected; empty if there is none.
    private(set) var command = ""
    private var preliminaryReplies = 0
    /// Whether the server may have performed a command that it would refuse the second time: it has `MKD` for the
    /// transfer, and its reply has not arrived, or is not valid. This stays true when the connection closes.
    public private(set) var mayHaveActed = false
    /// The features that the server lists; known once the connection is ready.
    public internal(set) var features = FTPFeatures.none
    /// Whether `PASV` can be used: its replies contain IPv4 addresses and ports only.
    let allowsPlainPassive: Bool
    var isExtendedPassiveRefused = false
    var isRestartRefused = false
    var isMachineListingRefused = false
    var form: FTPPath.Form?
    /// The user's home folder; nil if it is not known.
    var home: [UInt8]?
    /// The folders that were entered from the home folder.
    var folders: [[UInt8]] = []

    /// The state machine of a new connection.
    ///
    /// - Parameters:
    ///   - allowsPlainPassive: whether the connection uses IPv4, or a proxy.
    public init(security: Security, allowsPlainPassive: Bool, limits: FTPLimits = FTPLimits()) {
        self.security = security
        self.allowsPlainPassive = allowsPlainPassive
        self.limits = limits
    }

    /// Whether a transfer can begin.
    public var isReady: Bool { if case .idle = state { true } else { false } }

    /// Records that either side has closed the connection.
    public mutating func connectionDidClose() { state = .closed }

    // MARK: Replies

    /// Processes a reply of the server.
    ///
    /// - Throws: ``FTPError/tooManyPreliminaryReplies(limit:)``.
    public mutating func receive(_ reply: FTPReply) throws(FTPError) -> Action {
        if case .closed = state { return .wait }
        // A server may send 421 in any state before it closes the connection (RFC 959 §4.2.2).
        if reply.code == 421 {
            mayHaveActed = false
            return close(.serviceUnavailable, reply)
        }
        guard let kind = reply.kind else { return unexpected(reply) }
        if kind == .preliminary {
            preliminaryReplies += 1
            guard preliminaryReplies <= limits.preliminaryReplies else {
                state = .closed
                throw .tooManyPreliminaryReplies(limit: limits.preliminaryReplies)
            }
            // The command takes time. If no reply is expected, a preliminary reply is an error.
            guard isTransferBeginning else { return isWaitingForReply ? .wait : unexpected(reply) }
        }
        switch state {
        case .login(let step): return loginReply(reply, kind, step)
        case .folder(let step, let work): return folderReply(reply, kind, step, work)
        case .transfer(let step, let work): return transferReply(reply, kind, step, work)
        case .idle: return unexpected(reply)
        case .closed: return .wait
        }
    }

    /// Whether the command that uses the data connection was sent, and has no reply yet. With TLS, the server now
    /// begins its handshake on the data connection. A preliminary reply means that the transfer of bytes begins.
    public var isTransferBeginning: Bool {
        if case .transfer(.command, _) = state { true } else { false }
    }

    /// Whether the server's last reply about a transfer has arrived, while the data connection still transfers bytes.
    /// Until the data connection has ended, nothing more about the transfer arrives on the control connection, and the
    /// server may close it.
    public var hasLastReply: Bool {
        if case .transfer(.transferring(reply: _?), _) = state { true } else { false }
    }

    private var isWaitingForReply: Bool {
        if case .login(.greeting) = state { true } else { !command.isEmpty }
    }

    // MARK: Steps

    /// - Parameter name: the command's name in messages, if it is not only the command's first word.
    mutating func send(_ command: FTPCommand, _ next: State, as name: String? = nil) -> Action {
        preliminaryReplies = 0
        state = next
        mayHaveActed = if case .transfer(.making, _) = next { true } else { false }
        self.command = name ?? command.name
        return .send(command)
    }

    /// Moves to a state in which no reply is expected.
    mutating func pause(_ next: State) { (state, command, mayHaveActed) = (next, "", false) }

    mutating func finish(_ work: Work) -> Action {
        pause(.idle)
        return .tell(.finish(work.facts))
    }

    mutating func fail(_ kind: FTPRefusal.Kind, _ reply: FTPReply?, to command: String? = nil) -> Action {
        failed(FTPRefusal(kind, reply, to: command ?? self.command))
    }

    mutating func failed(_ refusal: FTPRefusal) -> Action {
        pause(.idle)
        return .tell(.fail(refusal))
    }

    mutating func close(_ kind: FTPRefusal.Kind, _ reply: FTPReply?, to command: String? = nil) -> Action {
        state = .closed
        return .close(FTPRefusal(kind, reply, to: command ?? self.command))
    }

    /// Closes the connection: the server sent a reply that no command waits for, or that is invalid in this state.
    mutating func unexpected(_ reply: FTPReply) -> Action { close(.unexpectedReply, reply) }
}
