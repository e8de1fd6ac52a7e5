import Foundation
import LoadingKit

/// The requests for ranges of an archive.
enum RangeRequest {
    /// Fields about the member, or fields that the loader sets itself. All other fields are the program's, and are
    /// sent.
    private static let ownFields: Set<String> = [
        "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
        "accept-encoding", "content-length", "content-type", "transfer-encoding",
    ]

    /// The program's fields, with names in lower case.
    static func fields(of request: URLRequest) -> [String: String] {
        let fields = (request.allHTTPHeaderFields ?? [:]).map { ($0.key.lowercased(), $0.value) }
        return Dictionary(fields.filter { !ownFields.contains($0.0) }) { first, _ in first }
    }

    /// The common part of all requests for the archive: the request's fields, cache policy, timeout and networks.
    static func base(_ request: URLRequest, _ archive: URL) -> URLRequest {
        var base = request
        base.url = archive
        base.httpMethod = "GET"
        base.httpBody = nil
        base.httpBodyStream = nil
        for name in (request.allHTTPHeaderFields ?? [:]).keys where ownFields.contains(name.lowercased()) {
            base.setValue(nil, forHTTPHeaderField: name)
        }
        // A range of a coded archive would be unusable (RFC 9110 §14.2).
        base.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        return base
    }
}

/// Identifies the version of an archive in a response.
struct ArchiveVersion: Sendable, Equatable {
    var entityTag: String?
    var lastModified: String?
    /// The size in bytes.
    var total: Int64?

    init(total: Int64?, entityTag: String? = nil, lastModified: String? = nil) {
        (self.total, self.entityTag, self.lastModified) = (total, entityTag, lastModified)
    }

    /// Whether a later response can confirm that the archive is unchanged.
    var hasValidator: Bool { entityTag != nil || lastModified != nil }

    /// A weak tag may not be sent in `If-Range` (RFC 9110 §13.1.5), and a date only where it is known to be exact. Both
    /// are compared when the response has arrived.
    var ifRange: String? { entityTag.flatMap { $0.hasPrefix("W/") ? nil : $0 } }

    /// Whether all values that both responses have are equal. A 206 to `If-Range` may have few of them
    /// (RFC 9110 §15.3.7).
    func agrees(with other: ArchiveVersion) -> Bool {
        func isSame<Value: Equatable>(_ a: Value?, _ b: Value?) -> Bool { a == nil || b == nil || a == b }
        return isSame(entityTag, other.entityTag) && isSame(lastModified, other.lastModified)
            && isSame(total, other.total)
    }
}
