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
    }
}
