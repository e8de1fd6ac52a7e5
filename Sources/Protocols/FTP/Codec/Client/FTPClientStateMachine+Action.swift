extension FTPClientStateMachine {
    /// The protection of the connection by TLS.
    public enum Security: Sendable, Hashable {
        /// No protection.
        case none
        /// TLS that the client requests before it logs in (RFC 4217).
        case explicit
        /// TLS from the beginning of the connection.
        case implicit
    }

    /// An action that the connection must perform.
    public enum Action: Sendable, Equatable {
        /// Wait for the server's next reply.
        case wait
        /// Send a command.
        case send(FTPCommand)
        /// Start TLS on the control connection, then call ``tlsDidStart()``.
        case startTLS
        /// Connect to this port of the server, then call ``dataDidOpen()`` or ``dataDidFail()``. With TLS, the
        /// handshake on this connection follows once ``isTransferBeginning`` is true.
        case openData(port: UInt16)
        /// Report an event to the owner of the transfer.
        case tell(Event)
        /// Close the connection, which can no longer be used.
        case close(FTPRefusal)
    }

    /// An event that is reported to the owner of a transfer.
    public enum Event: Sendable, Equatable {
        /// A user name is required: call ``logIn(user:password:)``. The refusal, if any, is the server's for the
        /// previous user.
        case logIn(FTPRefusal?)
        /// The server requires a password, and none was given: call ``logIn(user:password:)`` again.
        case givePassword
        /// A transfer may begin: call ``begin(_:)``.
        case ready
        /// The facts known about the file before the transfer: call ``proceed(from:)``.
        case report(FTPFacts)
        /// The data connection transfers bytes from now on, in either direction: call ``dataDidEnd()`` at their end.
        case begin(Beginning)
        /// The transfer has completed. The connection is ready for another transfer.
        case finish(FTPFacts)
        /// The transfer has failed. The connection is ready for another transfer; the data connection must be closed.
        case fail(FTPRefusal)
    }

    /// The parameters with which a transfer begins.
    public struct Beginning: Sendable, Hashable {
        /// The offset of the first byte in the file: 0 if the server cannot begin at another offset.
        public let offset: Int64
        /// The number of bytes that the server announced in its reply; nil if it announced none.
        public let announcedSize: Int64?
        /// Whether the listing has the format of `MLSD`.
        public let isMachineListing: Bool
    }
}
