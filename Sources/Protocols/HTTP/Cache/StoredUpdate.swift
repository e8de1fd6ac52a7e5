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
        if merged.contains(.age) { merged.remove(.age) }
        // Most of what a 304 says is what is stored, but for the date.
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

    /// Whether a well-known field stands in both once, with the same value.
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

    /// What describes the stored content, which has not changed; its coding is taken off already.
    private static let ofContent: [KnownField] = [.contentLength, .contentEncoding, .contentRange]
}
