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

/// The value of a `Content-Range` field (RFC 9110 §14.4).
struct ContentRangeField: Equatable {
    var range: Range<Int64>
    /// Nil where the server does not know it.
    var total: Int64?

    init?(_ value: String) {
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let numbers = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2 else { return nil }
        let ends = numbers[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < .max
        else { return nil }
        range = first..<last + 1
        guard numbers[1] != "*" else { return }
        guard let total = Self.number(numbers[1]), last < total else { return nil }
        self.total = total
    }

    static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? Int64(text) : nil
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
