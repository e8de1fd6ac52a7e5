import Foundation

/// Why a connection could not be made, or ended.
package struct TransportError: Error, Sendable, CustomStringConvertible {
    package enum Phase: String, Sendable {
        case resolve = "resolving its name"
        case connect = "connecting"
        case tls = "the TLS handshake"
        case read = "receiving"
        case write = "sending"
    }

    package enum Cause: Sendable {
        case systemCall(String, code: Int32)
        case nameNotFound(String)
        case resolverFailed(String)
        case timedOut
        /// What each of the addresses said.
        case addresses([(String, code: Int32)])
        case badPath
        case certificate(CertificateProblem, String)
        case handshake(String)
        /// The peer's answer to the handshake was no TLS.
        case notTLS
        /// The peer ended TLS without close_notify: what was received may not be all.
        case truncated
        case configuration(String)
    }

    package enum CertificateProblem: Sendable {
        case expired, notYetValid, unknownAuthority, selfSigned, hostMismatch, other
    }

    package let phase: Phase
    package let endpoint: String
    package let cause: Cause

    package var description: String { "\(phase.rawValue) (\(endpoint)) failed: \(reason)" }

    private var reason: String {
        switch cause {
        case .systemCall(let name, let code): "\(name): \(Self.text(code))"
        case .nameNotFound(let text): "the name was not found: \(text)"
        case .resolverFailed(let text): "the name could not be looked up: \(text)"
        case .timedOut: "it took too long"
        case .addresses(let tried):
            tried.isEmpty
                ? "the name has no addresses" : tried.map { "\($0): \(Self.text($1))" }.joined(separator: "; ")
        case .badPath: "the path is empty, or too long for a socket"
        case .certificate(let problem, let text): "\(Self.text(problem)) (\(text))"
        case .handshake(let text): text
        case .notTLS: "the server does not speak TLS on this port"
        case .truncated: "the connection ended without TLS's close_notify, so something may be missing"
        case .configuration(let text): text
        }
    }

    private static func text(_ code: Int32) -> String {
        code == ECONNREFUSED ? "connection refused" : String(cString: strerror(code)).lowercasedFirst
    }

    private static func text(_ problem: CertificateProblem) -> String {
        switch problem {
        case .expired: "the server's certificate has expired"
        case .notYetValid: "the server's certificate is not valid yet"
        case .unknownAuthority: "the server's certificate was signed by an authority that is not trusted"
        case .selfSigned: "the server's certificate is signed by itself, and not trusted"
        case .hostMismatch: "the server's certificate is for another host"
        case .other: "the server's certificate is not acceptable"
        }
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
