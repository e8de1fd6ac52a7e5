import Foundation
import LoadingKitLoopbackServer
import TestSupport

@testable import LoadingKitHTTP

/// Accepts connections that NTLM has authenticated for user `D\u` with password `p`.
final class NTLMServer: Sendable {
    /// The messages of each connection, and their outcomes: `0 1` is the first message on connection 0.
    let seen = Recorder<String>()
    /// The last messages of handshakes.
    let answers = Recorder<[UInt8]>()
    /// When it fires, the body of `/slow` is sent.
    let bodyIsDue = Signal()
    private let passed = Box<Set<Int>>([])
    /// Whether the connection ends after the second message.
    private let closesInBetween: Bool

    init(closesInBetween: Bool = false) { self.closesInBetween = closesInBetween }

    private static let serverChallenge: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

    /// A challenge with a time, so that the messages need a check.
    static let challenge: [UInt8] = {
        let information: [UInt8] = [7, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
        let flags = NTLMMessage.littleEndian(NTLMMessage.Flags.offered.rawValue)
        return NTLMMessage.signature + [2, 0, 0, 0] + [UInt8](repeating: 0, count: 8) + flags + serverChallenge
            + [UInt8](repeating: 0, count: 8) + [16, 0, 16, 0, 48, 0, 0, 0] + information
    }()

    var route: LoopbackServer.Route {
        { [self] request in
            let value = request.fields[.authorization]
            let message = value.flatMap { Data(base64Encoded: String($0.dropFirst("NTLM ".count))) }.map { Array($0) }
            let number = message.map { $0.count > 8 ? Int($0[8]) : -1 } ?? 0
            let version = request.tls?.applicationProtocol == "h2" ? "h2 " : ""
            seen.append("\(version)\(request.connection) \(number) \(request.bodyText)")
            if number == 0, passed.value.contains(request.connection) { return accepted(request) }
            switch number {
            case 1:
                let response = Self.refusal(" " + Data(Self.challenge).base64EncodedString())
                return closesInBetween ? response.closing() : response
            case 3 where Self.isRight(message ?? []):
                answers.append(message ?? [])
                passed.update { _ = $0.insert(request.connection) }
                return accepted(request)
            case _:
                return Self.refusal()
            }
        }
    }

    private func accepted(_ request: ServerRequest) -> ServerResponse {
        switch request.path {
        case "/moved": return .redirect(to: "/")
        case "/slow":
            return .stream(.length(2)) { [bodyIsDue] body in
                try body.wait(for: bodyIsDue)
                try body.write("in")
            }
        case _: return .text("in")
        }
    }

    private static func refusal(_ token: String = "") -> ServerResponse {
        ServerResponse.text("refused", status: 401).adding("WWW-Authenticate", "NTLM\(token)")
    }

    static func isRight(_ message: [UInt8]) -> Bool {
        guard let nt = NTLMMessage.field(message, at: 20), nt.count > 16, message.count > 88 else { return false }
        guard NTLMMessage.field(message, at: 28) == NTLMMessage.utf16("D"),
            NTLMMessage.field(message, at: 36) == NTLMMessage.utf16("u"), let key = NTLMIdentity("D\\u", "p").key
        else { return false }
        let proof = MessageDigest.md5.authenticate(serverChallenge + nt.dropFirst(16), key: key)
        guard proof == Array(nt.prefix(16)), let session = MessageDigest.md5.authenticate(proof ?? [], key: key) else {
            return false
        }
        var unchecked = message
        unchecked.replaceSubrange(72..<88, with: [UInt8](repeating: 0, count: 16))
        return Array(message[72..<88])
            == MessageDigest.md5.authenticate(NTLMMessage.negotiate + challenge + unchecked, key: session)
    }
}
