import Foundation
import LoadingKitHTTP1
import LoadingKitPrimitives

/// The keep-alive state of an HTTP/1.1 connection.
struct HTTP1KeepAlive {
    /// Whether the connection has answered a request before the one that it carries.
    private(set) var isReused = false
    /// The idle time before the current request, in seconds.
    private(set) var idleTime = 0.0
    private(set) var speaksHTTP11 = false
    /// The time for which the connection may be idle, in seconds, by the server's last response; nil if it states none.
    private(set) var idleLimit: Double?

    mutating func requestWillBegin(isReused: Bool, idleTime: Double) {
        self.isReused = isReused
        self.idleTime = idleTime
        idleLimit = nil
    }

    /// The response to a request that was sent ahead is the next one.
    mutating func pipelinedRequestDidBegin() {
        isReused = true
        idleLimit = nil
    }

    mutating func didReceive(_ head: ResponseHead) {
        speaksHTTP11 = head.version == .http1_1
        guard let hint = head.fields[.keepAlive], let timeout = Self.timeout(in: hint) else { return }
        // One second less, so that the server does not close the connection while a request is on its way.
        idleLimit = max(0, timeout - 1)
    }

    /// The time for which a server keeps an idle connection, in seconds, from the `Keep-Alive` field of its response:
    /// `timeout=5, max=100` (not in any current standard, but servers send it).
    static func timeout(in value: String) -> Double? {
        for parameter in value.split(separator: ",") {
            let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts.count == 2, parts[0].lowercased() == "timeout", let seconds = UInt16(parts[1]) {
                return Double(seconds)
            }
        }
        return nil
    }
}
