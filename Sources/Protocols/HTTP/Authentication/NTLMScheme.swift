#if NTLM
    import Foundation
    import LoadingKitCore

    /// `NTLM`, version 2: three messages, which authenticate the connection for one user (MS-NLMP; MS-NTHT).
    ///
    ///     initial ── negotiate ──▶ negotiated ── the server's challenge ──▶ challenged ── authenticate ──▶ answered
    ///
    /// If a message is requested before the server has answered the last one, the handshake starts over.
    ///
    /// The connection is reused only for requests of the same user (see ``HTTPConnectionPool/Binding``).
    struct NTLMScheme: HTTPAuthenticationScheme {
        static let name = "NTLM"
        static let authenticationMethod = NSURLAuthenticationMethodNTLM
        static let bindsToConnection = true

        private enum State {
            case initial
            case negotiated([UInt8])
            case challenged(negotiation: [UInt8], NTLMChallenge)
            case answered
        }

        private var state = State.initial

        init?(_ challenge: HTTPAuthenticationChallenge) {}

        /// The server names its domain only during the handshake, after the credential has been chosen.
        var realm: String? { nil }

        var strength: Int { 30 }

        var isLastStep: Bool { if case .answered = state { true } else { false } }

        mutating func authorization(
            for request: HTTPAuthenticationRequest, with credential: URLCredential
        ) -> String? {
            guard let user = credential.user, let password = credential.password else { return nil }
            switch state {
            case .initial, .negotiated, .answered:
                let message = NTLMMessage.negotiate
                state = .negotiated(message)
                return Self.value(message)
            case .challenged(let negotiation, let challenge):
                let response = NTLMResponse(
                    NTLMIdentity(user, password), challenge, clientChallenge: .random(8), now: Self.fileTime(Date()),
                    target: "HTTP/\(request.host)",
                    binding: request.channelBinding.flatMap { NTLMChannelBinding(endPointHash: Array($0)) })
                guard let message = response?.message(after: negotiation) else { return nil }
                state = .answered
                return Self.value(message)
            }
        }

        mutating func advance(after challenge: HTTPAuthenticationChallenge) -> Bool {
            switch state {
            case .negotiated(let negotiation):
                guard let token = challenge.token, let bytes = Data(base64Encoded: token),
                    let challenge = NTLMChallenge(Array(bytes))
                else { return false }
                state = .challenged(negotiation: negotiation, challenge)
                return true
            case .initial, .challenged, .answered:
                return false
            }
        }

        private static func value(_ message: [UInt8]) -> String { "NTLM " + Data(message).base64EncodedString() }

        /// The time in units of 100 ns since 1601 (MS-DTYP §2.3.3).
        private static func fileTime(_ date: Date) -> UInt64 {
            UInt64(max(0, (date.timeIntervalSince1970 + 11_644_473_600) * 10_000_000))
        }
    }
#endif
