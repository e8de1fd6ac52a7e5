import Foundation
import LoadingKitHTTP1
import LoadingKitPrimitives

/// What is known of how an HTTP/1.1 connection is kept between requests.
struct HTTP1KeepAlive {
    /// Whether it has answered a request before the one that it carries.
    private(set) var isReused = false
    /// For how long it was idle before the request that it carries, in seconds.
    private(set) var idleTime = 0.0
    /// Whether the last response was of HTTP/1.1.
    private(set) var speaksHTTP11 = false
    /// Until when the server keeps the connection, as it stated in its last response.
    private(set) var until = MonotonicTime.distantFuture

    /// A request is sent on the connection.
    mutating func requestWillBegin(isReused: Bool, idleTime: Double) {
        self.isReused = isReused
        self.idleTime = idleTime
        until = .distantFuture
    }

    /// The response to a request that was sent ahead is awaited now.
    mutating func pipelinedRequestDidBegin() {
        isReused = true
        until = .distantFuture
    }

    mutating func didReceive(_ head: ResponseHead, now: MonotonicTime) {
        speaksHTTP11 = head.version == .http1_1
        guard let hint = head.fields[.keepAlive], let timeout = Self.timeout(in: hint) else { return }
        // A second early, so that the server does not close while a request is on its way.
        until = now.advanced(bySeconds: max(0, timeout - 1))
    }

    /// The seconds for which a server keeps an idle connection, by the `Keep-Alive` field of its response: `timeout=5, max=100`
    /// (in no standard of today, but servers send it).
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
