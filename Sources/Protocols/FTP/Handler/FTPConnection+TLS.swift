import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The load that a control connection is made for puts the questions of its TLS handshake, and of those with its proxy, to the
/// program. Its data connections belong to it.
extension FTPConnection: TLSAsker {
    /// How the control connection and its data connections are secured.
    func secureDemand() throws(TransportError) -> TLSDemand {
        let server = key.server
        let challenger = TLSChallenger(
            TLSSite(server.host, Int(server.port)), session.settings.credentialStorage, family: family, asking: self)
        return TLSDemand(try session.tlsContext(for: server.host), server.host, asking: challenger)
    }

    /// Puts TLS on a connection to the server. The endpoint is always the control connection's, whose TLS session is
    /// resumed.
    func secure(
        _ stream: ByteStream, _ completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) -> (any PendingConnection)? {
        do {
            return session.connector.secure(
                stream, endpoint: .tcp(host: key.server.host, port: key.server.port), tls: try secureDemand(),
                timeout: session.settings.connectTimeout
            ) { completion($0.mapError { $0 as any Error }) }
        } catch {
            stream.close()
            loop.executeLater { completion(.failure(error)) }
            return nil
        }
    }

    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeDecision) {
        guard let receiver = load?.receiver, receiver.answersChallenges else {
            return answer(.performDefaultHandling, nil)
        }
        question = challenge
        receiver.challenge(challenge) { [weak self] disposition, credential in
            guard let self, question === challenge else { return }
            question = nil
            answer(disposition, credential)
        }
    }
}
