import Foundation
import LoadingKitPrimitives

/// How a 304, or the response to HEAD, updates a stored response (RFC 9111 §3.2, §4.3.4, §4.3.5).
enum StoredUpdate {
    /// Whether a 304 applies to this response: the 304 has no strong validator, or the same one (§4.3.4).
    static func applies(_ notModified: HTTPFields, to stored: StoredResponse) -> Bool {
        guard let tag = notModified[.etag], EntityTag.isStrong(tag) else { return true }
        return stored.fields[.etag].map { EntityTag.isStrongMatch($0, tag) } ?? true
    }

    /// Whether a response to HEAD shows that the stored response to GET is still the same representation (§4.3.5).
    ///
    /// - Parameter head: The fields of a response with status 200. If its `Vary` names other fields, the server may
    ///   have selected the stored response by other values of these.
    static func headAgrees(_ head: HTTPFields, with stored: StoredResponse) -> Bool {
        guard (200..<300).contains(stored.status), !VaryKey.changes(stored, by: head) else { return false }
        return [.etag, .lastModified, .contentLength].allSatisfy { (name: KnownField) in
            guard let new = head[name], let known = stored.fields[name] else { return true }
            return new == known
        }
    }

    /// The stored fields, each replaced by the new field of the same name (§3.2).
    static func merged(_ stored: HTTPFields, _ update: HTTPFields) -> HTTPFields {
        let update = StoragePermission.storableFields(update)
        var merged = stored
        // The old response's age is wrong after the update, and few 304s have an `Age`.
        if merged.contains(.age) { merged.remove(.age) }
        // Most fields of a 304 equal the stored ones, except the date.
        let changes = update.indices.filter {
            !ofContent.contains(update[$0].known) && !isUnchanged(update, $0, stored)
        }
        for index in changes {
            let field = update[index]
            if field.known == .other { merged.remove(name: field.name) } else { merged.remove(field.known) }
        }
        for index in changes {
            update.withBytes(at: index) { name, value, _ in merged.append(nameBytes: name, valueBytes: value) }
        }
        return merged
    }

    private static func isUnchanged(_ update: HTTPFields, _ index: Int, _ stored: HTTPFields) -> Bool {
        update.withBytes(at: index) { _, new, known in
            var (count, isSame) = (0, true)
            stored.forEachValue(of: known) { old in
                count += 1
                isSame = isSame && old.elementsEqual(new)
            }
            guard count == 1, isSame else { return false }
            var updates = 0
            update.forEachValue(of: known) { _ in updates += 1 }
            return updates == 1
        }
    }

    /// Fields of the stored content, which has not changed. The content is stored decoded.
    private static let ofContent: [KnownField] = [.contentLength, .contentEncoding, .contentRange]
}

/// The stored responses that a request invalidates (RFC 9111 §4.4).
enum CacheInvalidation {
    /// The URLs that the response to an unsafe method invalidates: the request's URL, and the URLs of the same origin
    /// in `Location` and `Content-Location`.
    static func urls(method: String, url: URL, status: Int, fields: HTTPFields) -> [URL] {
        guard !RequestMethod.isSafe(method), (200..<400).contains(status) else { return [] }
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
