extension FTPClientStateMachine {
    /// How the connection is protected.
    public enum Security: Sendable, Hashable {
        /// Not at all.
        case none
        /// By TLS that the client asks for, before it logs in (RFC 4217).
        case explicit
        /// By TLS from the connection's beginning.
        case implicit
    }

    /// What the connection is to do.
    public enum Action: Sendable, Equatable {
        /// Nothing: the server's next reply is waited for.
        case wait
        /// A command is to be sent.
        case send(FTPCommand)
        /// TLS is to be put on the control connection; then ``tlsDidStart()``.
        case startTLS
        /// A connection to this port of the server is to be made: ``dataDidOpen()`` or ``dataDidFail()``. With TLS its
        /// handshake follows when ``isTransferBeginning``.
        case openData(port: UInt16)
        /// The owner of the transfer is to be told.
        case tell(Event)
        /// The connection is of no use any more.
        case close(FTPRefusal)
    }

    /// What the owner of a transfer is told.
    public enum Event: Sendable, Equatable {
        /// A user is to be named: ``logIn(user:password:)``. With a refusal, of the user that was named before.
        case logIn(FTPRefusal?)
        /// The server wants a password, and none was given: ``logIn(user:password:)`` again.
        case givePassword
        /// A transfer may begin: ``begin(_:)``.
        case ready
        /// Before a file is read this is known of it: ``proceed(from:)``.
        case report(FTPFacts)
        /// Bytes are sent on the data connection from now on, in either direction: ``dataDidEnd()`` when that is over.
        case begin(Beginning)
        /// The transfer is done. The connection is ready for another one.
        case finish(FTPFacts)
        /// The transfer has failed. The connection is ready for another one; a data connection is to be closed.
        case fail(FTPRefusal)
    }

    /// What a transfer begins with.
    public struct Beginning: Sendable, Hashable {
        /// Where in the file the bytes begin: 0 where the server cannot begin elsewhere.
        public let offset: Int64
        /// How many bytes the server announced with its reply; nil where it announced none.
        public let announcedSize: Int64?
        /// Whether a listing is one of `MLSD`.
        public let isMachineListing: Bool
    }
}
