extension FTPClientStateMachine {
    /// Where the connection stands.
    enum State: Sendable {
        case login(LoginStep)
        /// Nothing is asked.
        case idle
        /// On the way to the folder of a transfer.
        case folder(FolderStep, Work)
        case transfer(TransferStep, Work)
        case closed
    }

    /// Steps before the first transfer. Unless it says otherwise, the reply to a command is waited for.
    enum LoginStep: Sendable {
        case greeting
        case auth
        /// TLS is put on the connection.
        case securing
        case bufferSize
        case protection
        /// The user is not known yet.
        case anonymous
        case user(password: [UInt8]?)
        case password
        case features
        case options
    }

    /// Steps to the folder in which the transfer's command is given.
    enum FolderStep: Sendable {
        case form
        case home
        case goingHome
        /// The index of the folder that is entered.
        case folder(Int)
        case makingFolder(Int)
    }

    /// Steps in that folder.
    enum TransferStep: Sendable {
        case size
        case time
        /// What is known was reported.
        case reported
        case extendedPassive
        case passive
        /// The data connection is made.
        case opening(isExtended: Bool)
        case restart
        case command
        /// Bytes are sent. With a reply: the server has ended the transfer already.
        case transferring(reply: FTPReply?)
        /// The data is over; the server's last reply is not there.
        case ending
        /// Whether what could not be read is a folder.
        case probing(FTPRefusal)
        case making
    }

    /// A transfer under way, with what is known up to now.
    struct Work: Sendable {
        let transfer: FTPTransfer
        var facts = FTPFacts()
        var offset: Int64 = 0
        /// How `SIZE` was refused, if it was.
        var sizeRefusal: FTPReply?
        /// Whether the reply to `MLSD` was that there is no such command.
        var usesPlainListing = false
        /// The folder that was made last, which must be there then.
        var madeFolder: Int?

        init(_ transfer: FTPTransfer) { self.transfer = transfer }

        var commandName: String { usesPlainListing ? "LIST" : transfer.command }
    }
}

extension FTPClientStateMachine.State {
    /// For messages and tables: the step's name, without what it holds.
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

    /// Whether the server is to reply.
    var isWaitingForReply: Bool {
        switch self {
        case .login(let step): step.isWaitingForReply
        case .folder: true
        case .transfer(let step, _): step.isWaitingForReply
        case .idle, .closed: false
        }
    }

    /// The name of the command whose reply is waited for; empty where none is.
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
