import Foundation
import LoadingKitCore

/// `Digest`: proves that the client knows the password without sending it (RFC 7616; without `qop`, RFC 2069).
struct DigestScheme: HTTPAuthenticationScheme {
    static let name = "Digest"
    static let authenticationMethod = NSURLAuthenticationMethodHTTPDigest

    /// The quality of protection, `qop`: the parts that the hash protects (RFC 7616 §3.4).
    private enum Quality {
        /// The method and the target, as in RFC 2069: the challenge has no `qop`.
        case legacy
        /// The method, the target and the nonces.
        case auth
        /// The method, the target, the nonces and the body.
        case integrity

        init?(_ name: String) {
            switch name.lowercased() {
            case "auth": self = .auth
            case "auth-int": self = .integrity
            default: return nil
            }
        }

        var name: String? {
            switch self {
            case .legacy: nil
            case .auth: "auth"
            case .integrity: "auth-int"
            }
        }
    }

    /// The last request, against which the server's proof is checked.
    private struct Sent {
        let secret: String
        let nonce: String
        let count: String
        let quality: Quality
        let target: String
        /// The origin's host; nil for a proxy, which has no paths.
        let host: String?
        let isSecure: Bool
    }

    let realm: String?
    private let algorithm: DigestAlgorithm
    private let qualities: [Quality]
    private var nonce: String
    /// The first nonce. `nextnonce` does not change it (RFC 7616 §3.4.2).
    private let firstNonce: String
    private let clientNonce: String
    private let opaque: String?
    private let hashesUser: Bool
    private let isUTF8: Bool
    private let domain: String?
    /// The parameters whose characters stand for octets. If there are any, the characters of the field's value do, too,
    /// so that the server gets its octets back.
    private let inLatin1: Set<String>
    private var count: UInt32 = 0
    private var sent: Sent?

    init?(_ challenge: HTTPAuthenticationChallenge) {
        self.init(challenge, clientNonce: Data([UInt8].random(18)).base64EncodedString())
    }

    /// Nil if the algorithm is unknown, or if `qop` offers only unknown values.
    init?(_ challenge: HTTPAuthenticationChallenge, clientNonce: String) {
        guard let realm = challenge["realm"], let nonce = challenge["nonce"],
            let algorithm = DigestAlgorithm(challenge["algorithm"])
        else { return nil }
        let offered = challenge["qop"]?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        qualities = offered.map { $0.compactMap { Quality($0) } } ?? [.legacy]
        if qualities.isEmpty { return nil }
        self.realm = realm
        self.algorithm = algorithm
        self.nonce = nonce
        self.clientNonce = clientNonce
        firstNonce = nonce
        opaque = challenge["opaque"]
        hashesUser = challenge["userhash"]?.lowercased() == "true"
        isUTF8 = challenge["charset"]?.lowercased() == "utf-8"
        domain = challenge["domain"]
        inLatin1 = challenge.parametersInLatin1.intersection(["realm", "opaque"])
    }

    var strength: Int { 20 + algorithm.rank }

    // MARK: Requests

    mutating func authorization(
        for request: HTTPAuthenticationRequest, with credential: URLCredential
    ) -> String? {
        guard let user = credential.user, let password = credential.password, !user.hasControlCharacters,
            let secret = secret(user, password), let quality = chooseQuality(request)
        else { return nil }
        count &+= 1
        let hexCount = String(count, radix: 16)
        let sent = Sent(
            secret: secret, nonce: nonce, count: String(repeating: "0", count: 8 - hexCount.count) + hexCount,
            quality: quality, target: request.target, host: request.isProxy ? nil : request.host,
            isSecure: request.isSecure)
        let bodyHash = quality == .integrity ? request.body.flatMap(hash(ofBody:)) : nil
        guard let response = proof(sent, method: request.method, quality, bodyHash: bodyHash),
            let name = userParameters(user)
        else { return nil }
        self.sent = sent
        return "Digest " + name + parameters(sent, response)
    }

    /// `auth-int` needs the body's hash before the body is sent. Nil if neither can be used.
    private func chooseQuality(_ request: HTTPAuthenticationRequest) -> Quality? {
        qualities.first { $0 != .integrity } ?? (request.body == nil ? nil : .integrity)
    }

    /// H(A1) of RFC 7616 §3.4.2.
    private func secret(_ user: String, _ password: String) -> String? {
        guard let plain = algorithm.hash([Array(user.utf8), realmOctets, Array(password.utf8)]) else { return nil }
        return algorithm.isSession ? algorithm.hash(plain, firstNonce, clientNonce) : plain
    }

    /// `charset` is not for the realm, which is hashed as the server has sent it.
    private var realmOctets: [UInt8] { octets(of: realm ?? "", isInLatin1: inLatin1.contains("realm")) }

    private func octets(of text: String, isInLatin1: Bool) -> [UInt8] {
        isInLatin1 ? text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(text.utf8)
    }

    /// The octets of a value of ``authorization(for:with:)``.
    func octets(ofField value: String) -> [UInt8] { octets(of: value, isInLatin1: !inLatin1.isEmpty) }

    /// A parameter as a quoted string of the field's value.
    private func quoted(_ text: String, _ name: String) -> String {
        guard !inLatin1.isEmpty, !inLatin1.contains(name) else { return text.quoted }
        return String(String.UnicodeScalarView(text.utf8.map { Unicode.Scalar($0) })).quoted
    }

    private func hash(ofBody body: Data) -> String? { algorithm.digest.hash(Array(body))?.hexadecimal }

    /// The `response` of a request, or, without a method, the matching `rspauth` (RFC 7616 §3.4.1, §3.5).
    private func proof(_ sent: Sent, method: String, _ quality: Quality, bodyHash: String?) -> String? {
        let second: String?
        if quality == .integrity {
            guard let bodyHash else { return nil }
            second = algorithm.hash(method, sent.target, bodyHash)
        } else {
            second = algorithm.hash(method, sent.target)
        }
        guard let second else { return nil }
        guard let name = quality.name else { return algorithm.hash(sent.secret, sent.nonce, second) }
        return algorithm.hash(sent.secret, sent.nonce, sent.count, clientNonce, name, second)
    }

    /// A name with characters beyond ASCII is encoded if the server supports this (RFC 7616 §3.4, RFC 8187 §3.2).
    private func userParameters(_ user: String) -> String? {
        if hashesUser {
            return algorithm.hash([Array(user.utf8), realmOctets]).map { "username=\"\($0)\", userhash=true" }
        }
        guard isUTF8, !user.utf8.allSatisfy({ $0 < 0x80 }) else {
            return "username=\(quoted(user, "username"))"
        }
        let kept = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        return user.addingPercentEncoding(withAllowedCharacters: kept).map { "username*=UTF-8''\($0)" }
    }

    private func parameters(_ sent: Sent, _ response: String) -> String {
        var text = ", realm=\(quoted(realm ?? "", "realm")), nonce=\(quoted(sent.nonce, "nonce"))"
        text += ", uri=\(quoted(sent.target, "uri"))"
        if let name = algorithm.name { text += ", algorithm=\(name)" }
        if let quality = sent.quality.name { text += ", qop=\(quality), nc=\(sent.count)" }
        if sent.quality != .legacy || algorithm.isSession { text += ", cnonce=\(clientNonce.quoted)" }
        text += ", response=\"\(response)\""
        if let opaque { text += ", opaque=\(quoted(opaque, "opaque"))" }
        return text
    }

    // MARK: Responses

    /// The same credential is sent again only when the nonce was too old (RFC 7616 §3.3, `stale`).
    mutating func advance(after challenge: HTTPAuthenticationChallenge) -> Bool {
        guard challenge["stale"]?.lowercased() == "true", let fresh = DigestScheme(challenge) else { return false }
        self = fresh
        return true
    }

    /// `rspauth` proves that the server knows the password. `nextnonce` is for the next request (RFC 7616 §3.5).
    mutating func serverDidAccept(_ parameters: [String: String]) -> HTTPAuthenticationAcceptance {
        // A proof that covers the response's body is checked after all of the body is received: see `bodyCheck`.
        if let sent, let claimed = parameters["rspauth"] {
            let quality = Self.quality(of: parameters, sent)
            if quality != .integrity, proof(sent, method: "", quality, bodyHash: nil) != claimed.lowercased() {
                return .refused
            }
        }
        guard let next = parameters["nextnonce"], !next.isEmpty else { return .unchanged }
        nonce = next
        count = 0
        return .renewed
    }

    private static func quality(of answer: [String: String], _ sent: Sent) -> Quality {
        answer["qop"].flatMap { Quality($0) } ?? sent.quality
    }

    /// The check of a proof that covers the response's body; nil for another proof.
    ///
    /// - Parameter parameters: those of `Authentication-Info`; empty while this field has not been received.
    func bodyCheck(_ parameters: [String: String]) -> DigestBodyCheck? {
        guard let sent, Self.quality(of: parameters, sent) == .integrity,
            let digest = RunningDigest(algorithm.digest)
        else { return nil }
        return DigestBodyCheck(digest, claimed: parameters["rspauth"]) { hash in
            proof(sent, method: "", .integrity, bodyHash: hash)
        }
    }

    /// The paths of `domain`, of which the first hundred are read; without it, all paths of the origin (RFC 7616 §3.3).
    /// Paths of other hosts and schemes are left out.
    func paths(around path: String) -> [String] {
        let most = AuthenticationMemory.maximumPaths
        // The last piece is the unread rest.
        let references = (domain ?? "").split(separator: " ", maxSplits: most).prefix(most)
        let named = references.compactMap { URLComponents(string: String($0)) }
        let usable = named.filter { $0.host != nil || $0.percentEncodedPath.hasPrefix("/") }
        guard !usable.isEmpty else { return ["/"] }
        return usable.filter(isOfOrigin).map { $0.percentEncodedPath.isEmpty ? "/" : $0.percentEncodedPath }
    }

    /// Whether a reference of `domain` is a path, or a URL with the host and the scheme of the last request.
    private func isOfOrigin(_ reference: URLComponents) -> Bool {
        guard reference.scheme != nil || reference.host != nil, let sent, let host = sent.host else { return true }
        guard let url = reference.url, url.hasScheme(sent.isSecure ? "https" : "http") else { return false }
        return (try? RequestTarget(url).origin.host) == host
    }
}

extension String {
    /// The text as a quoted string (RFC 9110 §5.6.4). A mark that a combining character follows is escaped, too.
    fileprivate var quoted: String {
        var text = "\""
        for scalar in unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }
}

/// The `algorithm` of a Digest challenge (RFC 7616 §3.3).
struct DigestAlgorithm: Sendable {
    let digest: MessageDigest
    /// Whether the password's hash is bound to the nonces with which the use of the credential began (`-sess`).
    let isSession: Bool
    /// Nil if the challenge names none, which means MD5.
    let name: String?

    /// Nil for an unknown algorithm.
    init?(_ name: String?) {
        self.name = name
        var plain = (name ?? "MD5").uppercased()
        isSession = plain.hasSuffix("-SESS")
        if isSession { plain.removeLast("-SESS".count) }
        switch plain {
        case "MD5": digest = .md5
        case "SHA-256": digest = .sha256
        case "SHA-512-256": digest = .sha512_256
        default: return nil
        }
    }

    var rank: Int {
        switch digest {
        case .md5: 0
        case .sha256: 1
        case .sha512_256: 2
        }
    }

    /// The hexadecimal hash of the strings, joined by colons.
    func hash(_ parts: String...) -> String? { hash(parts.map { Array($0.utf8) }) }

    func hash(_ parts: [[UInt8]]) -> String? {
        digest.hash(Array(parts.joined(separator: [UInt8(ascii: ":")])))?.hexadecimal
    }
}

/// Checks, after all of a response's body, that `rspauth` proves that the server knows the password (`qop=auth-int`,
/// RFC 7616 §3.5).
final class DigestBodyCheck {
    private let digest: RunningDigest
    private var claimed: String?
    private let proof: (_ bodyHash: String) -> String?

    /// - Parameter proof: returns the correct value of `rspauth` for a body with this hash.
    init(_ digest: RunningDigest, claimed: String?, proof: @escaping (_ bodyHash: String) -> String?) {
        self.digest = digest
        self.claimed = claimed
        self.proof = proof
    }

    func update(_ bytes: UnsafeRawBufferPointer) { digest.update(bytes) }
    func noteTrailers(_ parameters: [String: String]) { claimed = parameters["rspauth"] ?? claimed }

    func finish() throws(LoadFailure) {
        guard let claimed else { return }
        guard let hash = digest.finish()?.hexadecimal, proof(hash) == claimed.lowercased() else { throw .unproven }
    }
}

extension LoadFailure {
    static let unproven = LoadFailure(
        .badServerResponse,
        "the server does not prove that it knows the password or the service's key: the response may be another's")
}
