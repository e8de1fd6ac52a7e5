import Foundation
import LoadingKit

/// The requests for ranges of an archive.
enum RangeRequest {
    /// Fields that are about the member, or the loader's own. All others are the program's, and go along.
    private static let ownFields: Set<String> = [
        "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
        "accept-encoding", "content-length", "content-type", "transfer-encoding",
    ]

    /// The program's fields, with names in lower case.
    static func fields(of request: URLRequest) -> [String: String] {
        var fields: [String: String] = [:]
        for (name, value) in request.allHTTPHeaderFields ?? [:] where !ownFields.contains(name.lowercased()) {
            fields[name.lowercased()] = value
        }
        return fields
    }

    /// What all requests for the archive have in common: the request's fields, cache policy, timeout and networks.
    static func base(_ request: URLRequest, _ archive: URL) -> URLRequest {
        var base = request
        base.url = archive
        base.httpMethod = "GET"
        base.httpBody = nil
        base.httpBodyStream = nil
        for name in (request.allHTTPHeaderFields ?? [:]).keys where ownFields.contains(name.lowercased()) {
            base.setValue(nil, forHTTPHeaderField: name)
        }
        // A range of a coded archive would be useless (RFC 9110 §14.2).
        base.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        return base
    }
}

/// Which state of an archive a response is of.
struct ArchiveVersion: Sendable, Equatable {
    var entityTag: String?
    var lastModified: String?
    /// Bytes.
    var total: Int64?

    init(total: Int64?, entityTag: String? = nil, lastModified: String? = nil) {
        (self.total, self.entityTag, self.lastModified) = (total, entityTag, lastModified)
    }

    /// Whether a later response can show that the archive is still the same.
    var hasValidator: Bool { entityTag != nil || lastModified != nil }

    /// A weak tag may not be sent there (RFC 9110 §13.1.5), and a date only where it is known to be exact. Both are
    /// compared when the response is there.
    var ifRange: String? { entityTag.flatMap { $0.hasPrefix("W/") ? nil : $0 } }

    /// Whether all that both responses tell is the same. A 206 that answers `If-Range` may tell little (RFC 9110 §15.3.7).
    func agrees(with other: ArchiveVersion) -> Bool {
        func isSame<Value: Equatable>(_ a: Value?, _ b: Value?) -> Bool { a == nil || b == nil || a == b }
        return isSame(entityTag, other.entityTag) && isSame(lastModified, other.lastModified)
            && isSame(total, other.total)
    }
}
