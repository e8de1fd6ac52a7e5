/// One operation on a file or a folder of a server.
public struct FTPTransfer: Sendable, Hashable {
    /// The kind of a transfer's operation, with the name of its main command.
    public enum Operation: String, Sendable {
        /// Read a file.
        case retrieve = "RETR"
        /// List a folder: with `MLSD` if the server has it, otherwise with `LIST`.
        case list = "MLSD"
        /// Request the size and time of a file only.
        case inspect = "SIZE"
        /// Write a file.
        case store = "STOR"
        /// Append bytes to a file.
        case append = "APPE"
        /// Make a folder.
        case makeDirectory = "MKD"
    }

    /// The operation.
    public let operation: Operation
    /// The file or folder of the operation.
    public let path: FTPPath
    /// Whether the client enters the folders of the path one at a time (`CWD`, RFC 1738 §3.2.2). Otherwise it sends the
    /// whole path, which only servers understand that separate names with slashes.
    public let stepsThroughFolders: Bool
    /// Whether missing folders of the path are made.
    public let makesFolders: Bool

    /// A transfer.
    public init(
        _ operation: Operation, _ path: FTPPath, stepsThroughFolders: Bool = false, makesFolders: Bool = false
    ) {
        self.operation = operation
        self.path = path
        self.stepsThroughFolders = stepsThroughFolders
        self.makesFolders = makesFolders
    }

    /// The form in which bytes are sent. Listings are text (RFC 959 §4.1.3).
    var form: FTPPath.Form { operation == .list ? .text : path.form ?? .image }

    /// The folders to enter, beginning at the user's home folder.
    var folders: [[UInt8]] {
        if operation == .list { return stepsThroughFolders || path.segments.isEmpty ? path.segments : [path.whole] }
        // A whole path requires no CWD, unless missing folders are to be made.
        return stepsThroughFolders || makesFolders ? Array(path.segments.dropLast()) : []
    }

    /// The command's argument: a path relative to the last of ``folders``.
    var argument: [UInt8]? {
        if operation == .list { return nil }
        return folders.isEmpty ? path.whole : path.segments.last ?? []
    }
}

/// The facts that a server reports about a file before it sends the file. A fact that the server does not report is
/// nil.
public struct FTPFacts: Sendable, Hashable {
    /// The size in bytes.
    public var size: Int64?
    /// The time of the last modification, in seconds since 1 January 1970, UTC.
    public var modificationTime: Int64?

    /// Facts; by default none.
    public init(size: Int64? = nil, modificationTime: Int64? = nil) {
        self.size = size
        self.modificationTime = modificationTime
    }
}

/// The reason why a server did not perform a command.
public struct FTPRefusal: Error, Sendable, Hashable {
    /// The kind of a refusal.
    public enum Kind: Sendable, Hashable {
        /// The server does not accept clients now (421, or a greeting with another code than a completion's).
        case serviceUnavailable
        /// The user's name or password is wrong.
        case login
        /// The server requires an account in addition to a password (`ACCT`), which URLs cannot specify.
        case account
        /// The server does not support TLS for the control connection, or for data connections.
        case security
        /// The file or folder does not exist.
        case noSuchFile
        /// The file exists, but the user may not read it.
        case noPermission
        /// The URL names a folder in the form of a file's URL.
        case isDirectory
        /// The file or folder cannot be written.
        case cannotWrite
        /// The server's disk is full, or the user's quota is exceeded.
        case noSpace
        /// The data connection could not be opened.
        case dataConnection
        /// The transfer began, but the server did not complete it.
        case interrupted
        /// The server does not implement the command.
        case notImplemented
        /// The reply is not valid for the command.
        case unexpectedReply
    }

    /// The kind of the refusal.
    public let kind: Kind
    /// The server's reply; nil if there was none.
    public let reply: FTPReply?
    /// The command's name; empty for the greeting.
    public let command: String

    /// A refusal.
    public init(_ kind: Kind, _ reply: FTPReply?, to command: String) {
        self.kind = kind
        self.reply = reply
        self.command = command
    }
}

extension FTPRefusal: CustomStringConvertible {
    /// A description in plain words, with the server's reply.
    public var description: String {
        let subject = command.isEmpty ? "the server's greeting" : "the server's answer to \(command)"
        guard let reply else { return "\(text): \(command.isEmpty ? "no answer" : "no answer to \(command)")" }
        return "\(text): \(subject) is “\(reply.summary)”"
    }

    private var text: String {
        switch kind {
        case .serviceUnavailable: "the server is not available"
        case .login: "the server does not accept the user name and the password"
        case .account: "the server wants an account, which an ftp: URL cannot name"
        case .security: "the server does not protect the connection by TLS"
        case .noSuchFile: "there is no such file or folder"
        case .noPermission: "the user may not read the file"
        case .isDirectory: "the URL names a folder: with a slash at its end it can be listed"
        case .cannotWrite: "the file or folder cannot be written"
        case .noSpace: "the server has no room for the file"
        case .dataConnection: "there is no data connection"
        case .interrupted: "the transfer was broken off"
        case .notImplemented: "the server cannot do that"
        case .unexpectedReply: "the server does not keep to the protocol"
        }
    }
}
