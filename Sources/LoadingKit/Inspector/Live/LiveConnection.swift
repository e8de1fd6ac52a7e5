import LoadingKitCore
import LoadingKitHAR
import LoadingKitTransport

/// A connection of the program, as the inspector knows it from events.
struct LiveConnection {
    private enum State: String {
        case opening, active, idle, closed
    }

    let id: String
    private let session: Int
    private var state = State.opening
    private var remote = ""
    private var version = ""
    private var tls = ""
    private var reason = ""
    private var requestCount = 0
    /// The members of the message that only the session knows: the state, and the streams and windows of HTTP/2.
    private var details: [String: JSONValue] = [:]

    init(_ number: UInt32, session: Int) {
        id = "\(session).\(number)"
        self.session = session
    }

    /// Returns whether a reader sees a change.
    mutating func note(_ event: SessionEvent, _ detail: String) -> Bool {
        switch event {
        case .connect(.connecting(let address, let port)):
            remote = address.map { SocketAddress.ip($0, port: port).description } ?? "a Unix socket"
        case .connect(.handshakeEnded(let version)): tls = ConnectStep.handshakeEnded(version: version).text
        case .connect(.failed): end(event.text)
        case .connect(.cancelled): end(event.text)
        case .connectionOpened(let kind):
            state = .idle
            version = kind.name
            if !detail.isEmpty { remote = detail }
        case .connectionClosed: end(event.text)
        case .requestBegan:
            requestCount += 1
            if state != .closed { state = .active }
        default: return false
        }
        return true
    }

    /// - Parameter entry: the identifier of the entry of a task's load; empty where it is not known.
    /// - Returns: whether a reader sees a change.
    mutating func note(_ state: ConnectionState, entry: (_ task: Int) -> String) -> Bool {
        guard self.state != .closed else { return false }
        let before = details
        if let info = state.info {
            remote = info.remote.description
            tls = info.tls.map { ConnectStep.handshakeEnded(version: $0.protocolVersion).text } ?? ""
            details["local"] = .string(info.local.description)
        }
        version = state.kind?.name ?? version
        requestCount = max(requestCount, state.requestCount)
        details["state"] = .string(state.phase.name)
        if let http2 = state.http2 {
            details["streams"] = .integer(Int64(http2.openStreams))
            details.merge(http2.windows.members) { $1 }
            details["openStreams"] = .array(
                http2.streams.map { stream in
                    let members: [String: JSONValue] = [
                        "id": .integer(Int64(stream.number)), "entry": .string(stream.task.map(entry) ?? ""),
                        "state": .string(stream.stateName),
                    ]
                    return .object(members.merging(stream.windows.members) { $1 })
                })
        }
        return details != before
    }

    private mutating func end(_ reason: String) {
        // A connection that has moved into a tunnel's TLS, or is retired and then lost, ends once.
        guard state != .closed else { return }
        state = .closed
        self.reason = reason
        details = [:]
    }

    var message: JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(id), "session": .string(String(session)), "remote": .string(remote),
            "protocol": .string(version), "tls": .string(tls), "state": .string(state.rawValue),
            "requests": .integer(Int64(requestCount)), "reason": .string(reason),
        ]
        if state != .closed { members.merge(details) { $1 } }
        return ["type": "connection", "connection": .object(members)]
    }
}

extension ConnectionProtocol {
    fileprivate var name: String {
        switch self {
        case .http1: "http/1.1"
        case .http2: "h2"
        case .ftp: "ftp"
        case .stream: "stream"
        }
    }
}

extension ConnectionState.Phase {
    fileprivate var name: String {
        switch self {
        case .opening: "opening"
        case .active, .closing: "active"
        case .idle: "idle"
        }
    }
}

extension ConnectionState.Windows {
    fileprivate var members: [String: JSONValue] {
        ["sendWindow": .integer(Int64(send)), "receiveWindow": .integer(Int64(receive))]
    }
}

extension ConnectionState.Stream {
    /// The state with the names of RFC 9113, section 5.1.
    fileprivate var stateName: String {
        switch (isSending, isReceiving) {
        case (true, true): "open"
        case (false, true): "half-closed (local)"
        case (true, false): "half-closed (remote)"
        case (false, false): "closed"
        }
    }
}
