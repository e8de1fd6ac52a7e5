import Foundation
import LoadingKit

/// The output of `-v` about the connections of a load.
enum ConnectionFacts {
    static func text(_ metrics: URLSessionTaskMetrics) -> String {
        metrics.transactionMetrics.flatMap(lines).map { "* \(PlainText.line($0))\n" }.joined()
    }

    static func lines(_ transaction: URLSessionTaskTransactionMetrics) -> [String] {
        guard let address = transaction.remoteAddress, let port = transaction.remotePort else { return [] }
        let verb = transaction.isReusedConnection ? "reused the connection to" : "connected to"
        let name = transaction.networkProtocolName ?? "http/1.1"
        guard let version = transaction.negotiatedTLSProtocolVersion else {
            return ["\(verb) \(address) port \(port), \(name)"]
        }
        let cipher = transaction.negotiatedTLSCipherSuite.map { ", cipher \($0.standardName)" } ?? ""
        return ["\(verb) \(address) port \(port)", "\(version.standardName)\(cipher), \(name)"]
    }
}

extension tls_ciphersuite_t {
    /// The suite's name in IANA's registry. Names for TLS 1.2 and older join key exchange and cipher with `WITH`.
    var standardName: String { "TLS_\(self)" }
}
