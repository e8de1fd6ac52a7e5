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

    /// What is to be done.
    public enum Action: Sendable, Equatable {
        /// Nothing: the server's next reply is waited for.
        case wait
        /// A command is to be sent.
        case send(FTPCommand)
        /// TLS is to be put on the control connection; then ``tlsDidStart()``.
        case startTLS
        /// A user is to be named: ``logIn(user:password:)``. With a refusal, of the user that was named before.
        case logIn(FTPRefusal?)
        /// The server wants a password, and none was given: ``logIn(user:password:)`` again.
        case givePassword
        /// A transfer may begin: ``begin(_:)``.
        case ready
        /// Before a file is read this is known of it: ``proceed(from:)``.
        case report(FTPFacts)
        /// A connection to this port of the server is to be made: ``dataDidOpen()`` or ``dataDidFail(_:)``. With TLS its
        /// handshake follows when the next command has been sent.
        case openData(port: UInt16)
        /// Bytes are sent on the data connection from now on, in either direction: ``dataDidEnd()`` when that is over.
        case begin(Beginning)
        /// The transfer is done. The connection is ready for another one.
        case finish(FTPFacts)
        /// The transfer has failed. The connection is ready for another one; a data connection is to be closed.
        case fail(FTPRefusal)
        /// The connection is of no use any more.
        case close(FTPRefusal)
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
