import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport

@testable import LoadingKitHTTP

/// A site that accepts user `u` with password `p`, by the schemes that the test chooses.
final class ProtectedSite: Sendable {
    /// How the server answers the next Digest responses.
    struct Behaviour: Sendable {
        var challenges = ["Basic realm=\"r\""]
        /// Nonces that are refused as too old, and whether the challenge says `stale`.
        var oldNonces: Set<String> = []
        var saysStale = true
        /// The `Authentication-Info` of accepted requests.
        var information: String?
    }

    let behaviour: Box<Behaviour>
    /// The scheme of each request, and the count of its nonce.
    let seen = Recorder<String>()
    private let nonceNumber = Box(0)

    init(_ challenges: String...) { behaviour = Box(Behaviour(challenges: challenges)) }

    var route: LoopbackServer.Route {
        { [self] request in
            let value = request.fields[.authorization]
            let sent = value.map { ChallengeParser.challenges([$0]) }?.first
            seen.append("\(request.path) \(sent.map { "\($0.scheme)\($0["nc"].map { " \($0)" } ?? "")" } ?? "-")")
            guard let value, let sent, isRight(value, sent, request) else { return refuse(sent) }
            let response = ServerResponse.text("\(request.method) \(request.bodyText)")
            return behaviour.value.information.map { response.adding("Authentication-Info", $0) } ?? response
        }
    }

    private func isRight(_ value: String, _ sent: HTTPAuthenticationChallenge, _ request: ServerRequest) -> Bool {
        guard sent.scheme == "Digest" else { return value == "Basic dTpw" }
        guard let algorithm = DigestAlgorithm(sent["algorithm"]), let nonce = sent["nonce"], let count = sent["nc"],
            let clientNonce = sent["cnonce"], sent["uri"] == request.target,
            !behaviour.value.oldNonces.contains(nonce)
        else { return false }
        let secret = algorithm.hash("u", "r", "p") ?? ""
        let second = algorithm.hash(request.method, request.target) ?? ""
        return sent["response"] == algorithm.hash(secret, nonce, count, clientNonce, "auth", second)
    }

    /// Each refusal has its own nonce: `n1`, `n2`, …
    private func refuse(_ sent: HTTPAuthenticationChallenge?) -> ServerResponse {
        let number = nonceNumber.update { number in
            number += 1
            return number
        }
        let behaviour = behaviour.value
        let isStale = behaviour.saysStale && sent?["nonce"].map(behaviour.oldNonces.contains) == true
        var response = ServerResponse.text("refused", status: 401)
        for challenge in behaviour.challenges {
            let isDigest = challenge.hasPrefix("Digest")
            response = response.adding(
                "WWW-Authenticate",
                challenge + (isDigest ? ", nonce=\"n\(number)\"\(isStale ? ", stale=true" : "")" : ""))
        }
        return response
    }
}

extension URLSession {
    /// Loads a path of a server, and returns the outcome.
    func outcome(_ server: LoopbackServer, _ path: String) async -> Outcome {
        guard let request = try? BothVersions.request(server, path) else { return .failed(.badURL) }
        return await outcome(request)
    }
}
