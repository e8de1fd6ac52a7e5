import LoadingKitPrimitives
import LoadingKitTransport

/// SOCKS 5 (RFC 1928), with a user and password if there are any (RFC 1929). The proxy resolves names.
///
///     greeting ──▶ method ──┬─ none ──────────────────▶ request ──▶ reply ──▶ established
///                           └─ password ──▶ its answer ──▲
package struct SOCKS5Handshake: TunnelHandshake {
    private enum State {
        case method
        case passwordAnswer
        case reply
        case established
    }

    private static let version: UInt8 = 5
    private static let noAuthentication: UInt8 = 0
    private static let password: UInt8 = 2

    private let destination: TunnelDestination
    private let credential: Proxy.Credential?
    private var state = State.method
    private var received: [UInt8] = []

    package init(_ destination: TunnelDestination, _ credential: Proxy.Credential?) {
        self.destination = destination
        self.credential = credential
    }

    package mutating func begin() throws(ProxyError.Cause) -> [UInt8] {
        let methods = credential == nil ? [Self.noAuthentication] : [Self.noAuthentication, Self.password]
        return [Self.version, UInt8(methods.count)] + methods
    }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(ProxyError.Cause) -> TunnelStep {
        received += bytes
        switch state {
        case .method: return try readMethod()
        case .passwordAnswer: return try readPasswordAnswer()
        case .reply: return try readReply()
        case .established: throw .malformed("bytes after its reply")
        }
    }

    package var awaited: String {
        let message =
            switch state {
            case .method: "choice of a SOCKS method"
            case .passwordAnswer: "answer to the user and the password"
            case .reply, .established: "SOCKS reply"
            }
        return received.isEmpty ? "its \(message)" : "the rest of its \(message) (bytes so far: \(received.count))"
    }

    /// Removes and returns the first `count` received bytes; nil if there are fewer.
    private mutating func take(_ count: Int) -> [UInt8]? {
        guard received.count >= count else { return nil }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    private mutating func readMethod() throws(ProxyError.Cause) -> TunnelStep {
        guard let answer = take(2) else { return .needsMore }
        guard answer[0] == Self.version else { throw .malformed("it does not speak SOCKS 5") }
        switch (answer[1], credential) {
        case (Self.noAuthentication, _):
            state = .reply
            return .send(try request())
        case (Self.password, let credential?):
            state = .passwordAnswer
            return .send(try passwordMessage(credential))
        case (0xFF, nil): return Self.challenge
        case (0xFF, _): throw .authentication
        case _: throw .malformed("a method that was not offered")
        }
    }

    /// The proxy requires a user and a password, or different ones, and closes the connection (RFC 1928 §3, RFC 1929
    /// §2).
    private static let challenge = TunnelStep.challenged(
        TunnelChallenge(head: nil, keepsConnection: false))

    private func passwordMessage(_ credential: Proxy.Credential) throws(ProxyError.Cause) -> [UInt8] {
        let (user, password) = (Array(credential.user.utf8), Array(credential.password.utf8))
        guard let userCount = UInt8(exactly: user.count), let count = UInt8(exactly: password.count) else {
            throw .authentication
        }
        return [1, userCount] + user + [count] + password
    }

    private mutating func readPasswordAnswer() throws(ProxyError.Cause) -> TunnelStep {
        guard let answer = take(2) else { return .needsMore }
        guard answer[1] == 0 else { return Self.challenge }
        state = .reply
        return .send(try request())
    }

    private func request() throws(ProxyError.Cause) -> [UInt8] {
        [Self.version, 1, 0] + (try address()) + [UInt8(destination.port >> 8), UInt8(destination.port & 0xFF)]
    }

    private func address() throws(ProxyError.Cause) -> [UInt8] {
        if let address = IPAddress(destination.host) { return [address.bytes.count == 4 ? 1 : 4] + address.bytes }
        let name = Array(destination.host.utf8)
        guard let count = UInt8(exactly: name.count), count > 0, !name.contains(0) else { throw .unusableName }
        return [3, count] + name
    }

    private mutating func readReply() throws(ProxyError.Cause) -> TunnelStep {
        guard received.count >= 5 else { return .needsMore }
        guard received[0] == Self.version else { throw .malformed("its reply is not SOCKS 5") }
        guard received[1] == 0 else { throw .refused(Self.text(received[1])) }
        let addressCount: Int
        switch received[3] {
        case 1: addressCount = 4
        case 3: addressCount = 1 + Int(received[4])
        case 4: addressCount = 16
        case _: throw .malformed("an address of an unknown kind")
        }
        guard take(4 + addressCount + 2) != nil else { return .needsMore }
        guard received.isEmpty else { throw .malformed("bytes after its reply") }
        state = .established
        return .established(HTTPFields())
    }

    /// The meaning of a reply code (RFC 1928 §6).
    private static func text(_ reply: UInt8) -> String {
        switch reply {
        case 1: "it failed"
        case 2: "its rules do not allow it"
        case 3: "the network cannot be reached"
        case 4: "the host cannot be reached, or has no address"
        case 5: "connection refused: nothing listens there"
        case 6: "the time to live expired"
        case 7: "it does not know the command"
        case 8: "it does not know this kind of address"
        case _: "it answered \(reply)"
        }
    }
}
