extension FTPClientStateMachine {
    /// The state of the connection.
    enum State: Sendable {
        case login(LoginStep)
        /// No command is in progress.
        case idle
        /// The connection changes to the folder of a transfer.
        case folder(FolderStep, Work)
        case transfer(TransferStep, Work)
        case closed
    }

    /// The steps before the first transfer. Unless stated otherwise, each step waits for the reply to its command.
    enum LoginStep: Sendable {
        case greeting
        case auth
        /// The TLS handshake is in progress.
        case securing
        case bufferSize
        case protection
        /// The user name is not known yet.
        case anonymous
        case user(password: [UInt8]?)
        case password
        case features
        case options
    }

    /// The steps to the folder in which the transfer's command is sent.
    enum FolderStep: Sendable {
        case form
        case home
        case goingHome
        /// The client enters the folder with this index.
        case folder(Int)
        case makingFolder(Int)
    }

    /// The steps of the transfer in its folder.
    enum TransferStep: Sendable {
        case size
        case time
        /// The known facts were reported to the transfer's owner.
        case reported
        case extendedPassive
        case passive
        /// The data connection is being opened.
        case opening(isExtended: Bool)
        case restart
        case command
        /// The data connection transfers bytes. The reply is the server's last one, if it has arrived already.
        case transferring(reply: FTPReply?)
        /// The data connection is closed; the server's last reply has not arrived.
        case ending
        /// The client checks whether the path that could not be read names a folder.
        case probing(FTPRefusal)
        case making
    }

    /// A transfer in progress, with the facts known so far.
    struct Work: Sendable {
        let transfer: FTPTransfer
        var facts = FTPFacts()
        var offset: Int64 = 0
        /// The reply that refused `SIZE`, if any.
        var sizeRefusal: FTPReply?
        /// Whether the listing uses `LIST`: the server does not implement `MLSD`.
        var usesPlainListing = false
        /// The index of the folder that was made last. It is not made a second time.
        var madeFolder: Int?

        init(_ transfer: FTPTransfer) { self.transfer = transfer }

        var commandName: String { usesPlainListing ? "LIST" : transfer.command }
    }
}

extension FTPClientStateMachine.State {
    /// The step's name without its associated values, for messages and tables.
    var name: String {
        let step: Any =
            switch self {
            case .login(let step): step
            case .folder(let step, _): step
            case .transfer(let step, _): step
            case .idle, .closed: self
            }
        return String(String(describing: step).prefix { $0 != "(" })
    }

    /// Whether the state machine waits for a reply.
    var isWaitingForReply: Bool {
        switch self {
        case .login(let step): step.isWaitingForReply
        case .folder: true
        case .transfer(let step, _): step.isWaitingForReply
        case .idle, .closed: false
        }
    }

    /// The name of the command whose reply is expected; empty if there is none.
    var commandName: String {
        switch self {
        case .login(let step): step.commandName
        case .folder(let step, _): step.commandName
        case .transfer(let step, let work): step.commandName(work)
        case .idle, .closed: ""
        }
    }
}

extension FTPClientStateMachine.LoginStep {
    fileprivate var isWaitingForReply: Bool {
        switch self {
        case .securing, .anonymous: false
        case .greeting, .auth, .bufferSize, .protection, .user, .password, .features, .options: true
        }
    }

    fileprivate var commandName: String {
        switch self {
        case .auth: "AUTH TLS"
        case .bufferSize: "PBSZ"
        case .protection: "PROT P"
        case .user: "USER"
        case .password: "PASS"
        case .features: "FEAT"
        case .options: "OPTS"
        case .greeting, .securing, .anonymous: ""
        }
    }
}

extension FTPClientStateMachine.FolderStep {
    fileprivate var commandName: String {
        switch self {
        case .form: "TYPE"
        case .home: "PWD"
        case .goingHome, .folder: "CWD"
        case .makingFolder: "MKD"
        }
    }
}

extension FTPClientStateMachine.TransferStep {
    fileprivate var isWaitingForReply: Bool {
        switch self {
        case .reported, .opening: false
        case .size, .time, .extendedPassive, .passive, .restart, .command, .transferring, .ending, .probing, .making:
            true
        }
    }

    fileprivate func commandName(_ work: FTPClientStateMachine.Work) -> String {
        switch self {
        case .size: "SIZE"
        case .time: "MDTM"
        case .extendedPassive: "EPSV"
        case .passive: "PASV"
        case .restart: "REST"
        case .command, .transferring, .ending: work.commandName
        case .probing: "CWD"
        case .making: "MKD"
        case .reported, .opening: ""
        }
    }
}
