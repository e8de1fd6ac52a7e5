import Foundation
import LoadingKitPrimitives

/// What is to be forgotten because a request may have changed it (RFC 9111 §4.4).
enum CacheInvalidation {
    /// RFC 9110 §9.2.1. A method that is not known is taken for one that changes things.
    static func isSafe(_ method: String) -> Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) }

    /// The URLs that an answer to an unsafe method makes doubtful: its own, and those of the same origin that it names.
    static func urls(method: String, url: URL, status: Int, fields: HTTPFields) -> [URL] {
        guard !isSafe(method), (200..<400).contains(status) else { return [] }
        let named = [KnownField.location, .contentLocation].flatMap { fields.urls(of: $0, relativeTo: url) }
        return [url] + named.filter { isSameOrigin($0, url) }
    }

    private static func isSameOrigin(_ a: URL, _ b: URL) -> Bool {
        guard ["http", "https"].contains(where: a.hasScheme), let a = try? RequestTarget(a),
            let b = try? RequestTarget(b)
        else { return false }
        return a.origin == b.origin
    }
}
