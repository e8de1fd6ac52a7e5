import Foundation
import LoadingKit
import LoadingKitLoopbackServer

/// What a cell of the matrix wants to be done on its path: loads with these settings, from a server that does this.
package struct Trial: Sendable {
    package let path: MatrixPath

    // MARK: The program

    /// Changes the configuration of the session, after the path has made it.
    package var configure: @Sendable (URLSessionConfiguration) -> Void = { _ in }
    /// Changes the request, after the path has made it.
    package var change: @Sendable (inout URLRequest) -> Void = { _ in }
    /// Called before the session is made, with the server's port.
    package var prepare: @Sendable (UInt16) async throws -> Void = { _ in }
    /// Called between the rounds.
    package var betweenRounds: @Sendable () async throws -> Void = {}
    /// Whether the configuration is changed for the first part of what is resumed, too.
    package var appliesToFirstPart = false
    /// Whether what is resumed was begun. Else its resume data is made of the request alone, as what the request forbids would keep
    /// the first part from being loaded.
    package var hasFirstPart = true
    /// So many loads at once, so often one after the other.
    package var loads = 1, rounds = 1
    package var host = "localhost"
    /// What is asked for, without the slash.
    package var target = "file.txt"
    /// What is uploaded in place of what would be loaded.
    package var upload: Data?
    /// Whether the body is collected for the program, rather than given to the delegate.
    package var isCollected = false
    /// Ends the loads when this returns, rather than when they are over. It gets the server's connections.
    package var isEnough: (@Sendable (Recorder<Int>) async -> Void)?

    // MARK: The server

    /// Whether the server speaks TLS. That of HTTP/2 does in any case but the next.
    package var isSecure = false
    /// Whether the server speaks HTTP/2 from the first byte, without TLS.
    package var speaksHTTP2 = false
    /// How the server does TLS.
    package var tls: @Sendable (inout TLSServerOptions) -> Void = { _ in }
    /// What the server answers; nil for what the path's server does by itself. Not for the first part of what is resumed.
    package var answer: @Sendable (ServerRequest) throws -> ServerResponse? = { _ in nil }
    /// Fields that are added to what the path's server answers by itself.
    package var adds: [(String, String)] = []
    /// Whether the server says nothing.
    package var isSilent = false
    /// Whether the server has accepted a connection for the loads before the trial ends. A client can give up earlier.
    package var awaitsConnection = false
    /// Where the server listens, if it is not at a port.
    package var socketPath: String?
    /// Whether the server is behind one that speaks Multipath TCP.
    package var isMultipath = false
    /// The server, where it is not the path's own.
    package var peer: (@Sendable () throws -> any MatrixPeer)?

    package init(_ path: MatrixPath) { self.path = path }

    var usesTLS: Bool { !speaksHTTP2 && (isSecure || path == .http2) }
}

/// What the server and the program saw of a trial.
package struct Observation: Sendable {
    /// Those for the resource, in order.
    package var requests: [ServerRequest] = []
    /// What the program was told of each load.
    package var outcomes: [Outcome] = []
    /// How many connections the server accepted.
    package var connections = 0
    /// What was agreed in the handshakes that succeeded.
    package var handshakes: [TLSFacts] = []
    /// The commands that an ftp server was given.
    package var commands: [String] = []
    /// The clients' sockets.
    package var sockets = ClientSockets()
    /// The marks of the packets that came (DSCP).
    package var marks: Set<UInt8> { sockets.marks }
    /// Whether the connections were of this process.
    package var areOfThisProcess: Set<Bool> = []
    /// Whether the connections came by Multipath TCP.
    package var areMultipath: Set<Bool> = []
    package var metrics: [URLSessionTaskMetrics] = []

    package var outcome: Outcome? { outcomes.last }
    package var request: ServerRequest? { requests.last }

    /// The values of a field in the requests.
    package func values(_ name: String) -> [String?] { requests.map { $0.fields[name: name] } }
}

/// What became of a load.
package struct Outcome: Sendable {
    package var status: Int?
    package var body = Data()
    package var error: URLError?

    package var text: String { String(decoding: body, as: UTF8.self) }
    package var code: URLError.Code? { error?.code }
    package var isLoaded: Bool { error == nil }
}
