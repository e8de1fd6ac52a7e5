/// One thing to be done with a file or a folder on a server.
public struct FTPTransfer: Sendable, Hashable {
    /// What is done.
    public enum Operation: Sendable, Hashable {
        /// A file is read (`RETR`).
        case retrieve
        /// A folder is listed: by `MLSD` where the server has it, else by `LIST`.
        case list
        /// Size and time of a file are asked for, and nothing else.
        case inspect
        /// A file is written (`STOR`).
        case store
        /// Bytes are put behind those of a file (`APPE`).
        case append
        /// A folder is made (`MKD`).
        case makeDirectory
    }

    /// What is done.
    public let operation: Operation
    /// With which file or folder.
    public let path: FTPPath
    /// Whether the server is led to the file one folder at a time (`CWD`, as RFC 1738 §3.2.2 has it), rather than by a path,
    /// which only servers understand whose paths have slashes.
    public let stepsThroughFolders: Bool
    /// Whether folders on the way that are not there are made.
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

    /// The folders that are entered, from the user's own one.
    var folders: [[UInt8]] {
        if operation == .list { return stepsThroughFolders || path.segments.isEmpty ? path.segments : [path.whole] }
        // A path in one command needs no folder, but for those that are made if they are not there.
        return stepsThroughFolders || makesFolders ? Array(path.segments.dropLast()) : []
    }

    /// What the command is about, from the last of ``folders``.
    var argument: [UInt8]? {
        if operation == .list { return nil }
        return folders.isEmpty ? path.whole : path.segments.last ?? []
    }

    /// The name of the command that the data connection is for.
    var command: String {
        switch operation {
        case .retrieve: "RETR"
        case .list: "MLSD"
        case .inspect: "SIZE"
        case .store: "STOR"
        case .append: "APPE"
        case .makeDirectory: "MKD"
        }
    }
}

/// What a server says of a file before it sends it. Nil for what it does not say.
public struct FTPFacts: Sendable, Hashable {
    /// Bytes.
    public var size: Int64?
    /// Seconds since 1 January 1970, UTC.
    public var modificationTime: Int64?

    /// Facts; by default none.
    public init(size: Int64? = nil, modificationTime: Int64? = nil) {
        self.size = size
        self.modificationTime = modificationTime
    }
}

/// Why a server does not do what was asked of it.
public struct FTPRefusal: Error, Sendable, Hashable {
    /// What became impossible.
    public enum Kind: Sendable, Hashable {
        /// The server has no place for a client now (421, or a greeting that is no welcome).
        case serviceUnavailable
        /// The user's name or password is wrong.
        case login
        /// The server wants an account besides a password (`ACCT`), which URLs have not.
        case account
        /// There is no TLS for the control connection, or none for data connections.
        case security
        /// No such file or folder.
        case noSuchFile
        /// The file is there, and this user may not read it.
        case noPermission
        /// The URL names a folder as if it were a file.
        case isDirectory
        /// The file or folder cannot be written.
        case cannotWrite
        /// The server's disk is full, or the user's share of it is.
        case noSpace
        /// No data connection came about.
        case dataConnection
        /// The transfer began, and the server did not end it well.
        case interrupted
        /// The server cannot do what the command is for.
        case notImplemented
        /// The reply is none that can follow the command.
        case unexpectedReply
    }

    /// What became impossible.
    public let kind: Kind
    /// What the server answered; nil where it did not.
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
    /// In plain words, with the server's reply.
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
