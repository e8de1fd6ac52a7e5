import Foundation
import LoadingKitPrimitives

/// What a 304, or the answer to HEAD, changes of a stored response (RFC 9111 §3.2, §4.3.4, §4.3.5).
enum StoredUpdate {
    /// Whether a 304 speaks of this response: it has no strong validator, or the same one.
    static func applies(_ notModified: HTTPFields, to stored: StoredResponse) -> Bool {
        guard let tag = notModified[.etag], EntityTag.isStrong(tag) else { return true }
        return stored.fields[.etag].map { EntityTag.matchStrongly($0, tag) } ?? true
    }

    /// What HEAD says of a stored answer to GET: whether that is the same representation still (§4.3.5).
    static func headAgrees(_ head: HTTPFields, with stored: StoredResponse) -> Bool {
        [.etag, .lastModified, .contentLength].allSatisfy { (name: KnownField) in
            guard let said = head[name], let known = stored.fields[name] else { return true }
            return said == known
        }
    }

    /// The stored fields, each replaced by the new one of its name (§3.2).
    static func merged(_ stored: HTTPFields, _ update: HTTPFields) -> HTTPFields {
        let update = StoragePermission.storableFields(update)
        var merged = stored
        // An old answer's age is not the new one's, and 304s rarely say theirs.
        merged.remove(.age)
        var replaced: Set<String> = []
        for field in update where !ofContent.contains(field.known) {
            let name = field.name
            if replaced.insert(name.lowercased()).inserted { merged.remove(name: name) }
            merged.append(name: name, value: field.value)
        }
        return merged
    }

    /// What describes the stored content, which has not changed; its coding is taken off already.
    private static let ofContent: [KnownField] = [.contentLength, .contentEncoding, .contentRange]
}
