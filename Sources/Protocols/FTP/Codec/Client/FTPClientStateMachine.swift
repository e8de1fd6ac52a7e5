/// The client's side of a control connection (RFC 959, 2228, 2389, 2428, 3659, 4217), from the greeting to the last transfer.
///
///     greeting → (AUTH TLS → TLS → PBSZ → PROT) → log in (USER → PASS) → FEAT → (OPTS) → idle
///     idle → (TYPE) → (PWD → CWD …) → (SIZE → MDTM → facts) → EPSV or PASV → data connection → (REST) → RETR, … → idle
///
/// Each input is a method, which gives one action that is to be done. It holds no connection, and reads no clock. A transfer
/// that fails leaves the connection ready for another one, unless the action is ``Action/close(_:)``.
public struct FTPClientStateMachine: Sendable {
    let security: Security
    private let limits: FTPLimits
    var state = State.login(.greeting)
    private var preliminaryReplies = 0
    /// What the server says that it can do. Known when it is ready.
    public internal(set) var features = FTPFeatures.none
    /// Whether `PASV` can be used: its replies name IPv4's ports.
    let allowsPlainPassive: Bool
    var isExtendedPassiveRefused = false
    var isRestartRefused = false
    var isMachineListingRefused = false
    var form: FTPPath.Form?
    /// The user's own folder; nil while it is not known.
    var home: [UInt8]?
    /// The folders that were entered from there.
    var folders: [[UInt8]] = []

    /// A connection that was just made.
    ///
    /// - Parameters:
    ///   - allowsPlainPassive: whether the connection is one over IPv4, or through a proxy.
    public init(security: Security, allowsPlainPassive: Bool, limits: FTPLimits = FTPLimits()) {
        self.security = security
        self.allowsPlainPassive = allowsPlainPassive
        self.limits = limits
    }

    /// Whether a transfer can begin.
    public var isReady: Bool { if case .idle = state { true } else { false } }

    /// Whether the server can be asked to begin within a file.
    public var mayRestart: Bool { !isRestartRefused }

    /// The name of the state, for messages and tables.
    public var stateName: String { state.name }

    /// The connection is closed, by either side.
    public mutating func connectionDidClose() { state = .closed }

    // MARK: Replies

    /// The server's reply.
    ///
    /// - Throws: ``FTPError/tooManyPreliminaryReplies(limit:)``.
    public mutating func receive(_ reply: FTPReply) throws(FTPError) -> Action {
        if case .closed = state { return .wait }
        // Of use in no state (RFC 959 §4.2.2).
        if reply.code == 421 { return close(.serviceUnavailable, reply, state.commandName) }
        guard let kind = reply.kind else { return unexpected(reply) }
        if kind == .preliminary {
            preliminaryReplies += 1
            guard preliminaryReplies <= limits.preliminaryReplies else {
                state = .closed
                throw .tooManyPreliminaryReplies(limit: limits.preliminaryReplies)
            }
            // That something takes time. Where no reply is waited for none may come.
            guard isTransferBeginning else { return state.isWaitingForReply ? .wait : unexpected(reply) }
        }
        switch state {
        case .login(let step): return loginReply(reply, kind, step)
        case .folder(let step, let work): return folderReply(reply, kind, step, work)
        case .transfer(let step, let work): return transferReply(reply, kind, step, work)
        case .idle: return unexpected(reply)
        case .closed: return .wait
        }
    }

    /// Whether the command was sent that the data connection is for, and was not answered: with TLS the server begins its
    /// handshake on that one now. A preliminary reply means that bytes are sent.
    public var isTransferBeginning: Bool {
        if case .transfer(.command, _) = state { true } else { false }
    }

    // MARK: Steps

    mutating func send(_ command: FTPCommand, _ next: State) -> Action {
        preliminaryReplies = 0
        state = next
        return .send(command)
    }

    mutating func finish(_ work: Work) -> Action {
        state = .idle
        return .tell(.finish(work.facts))
    }

    mutating func fail(_ kind: FTPRefusal.Kind, _ reply: FTPReply?, _ command: String) -> Action {
        failed(FTPRefusal(kind, reply, to: command))
    }

    mutating func failed(_ refusal: FTPRefusal) -> Action {
        state = .idle
        return .tell(.fail(refusal))
    }

    mutating func close(_ kind: FTPRefusal.Kind, _ reply: FTPReply?, _ command: String) -> Action {
        state = .closed
        return .close(FTPRefusal(kind, reply, to: command))
    }

    /// The server speaks when it was not asked, or says what it may not.
    mutating func unexpected(_ reply: FTPReply) -> Action { close(.unexpectedReply, reply, state.commandName) }
}

extension FTPCommand {
    static func known(_ name: StaticString, _ argument: StaticString? = nil) -> FTPCommand {
        FTPCommand(known: name, argument)
    }

    static func decimal(_ name: StaticString, _ number: Int64) -> FTPCommand {
        FTPCommand(known: name, digits: number)
    }
}
