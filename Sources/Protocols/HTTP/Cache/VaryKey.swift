import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// The request's fields by which the server selected a response, as listed in `Vary` (RFC 9111 §4.1).
enum VaryKey {
    /// `Vary: *`: the response matches no later request.
    static func matchesNothing(_ response: HTTPFields) -> Bool {
        guard response.contains(.vary) else { return false }
        return names(response).contains("*")
    }

    /// Whether the update of a stored response names fields by which the response was not selected. With fewer fields the
    /// response still answers the same requests: many servers send less with a 304.
    static func changes(_ stored: StoredResponse, by update: HTTPFields) -> Bool {
        guard update.contains(.vary) else { return false }
        let known = Set(stored.metadata.varyKey.map(\.name)).union(names(stored.fields))
        return !known.isSuperset(of: names(update))
    }

    /// Nil for `Vary: *`, and if the key would contain secrets and there is no hash for them.
    static func of(
        _ user: CacheUser, for response: HTTPFields, _ hash: KeyedHash?
    ) -> [CacheMetadata.VaryField]? {
        guard response.contains(.vary) else { return [] }
        var kept: [CacheMetadata.VaryField] = []
        for name in Set(names(response)).sorted() {
            guard let value = value(name, user, hash) else { return nil }
            kept.append(CacheMetadata.VaryField(name: name, value: value))
        }
        return kept
    }

    static func matches(_ stored: [CacheMetadata.VaryField], _ user: CacheUser, _ hash: KeyedHash?) -> Bool {
        stored.allSatisfy { field in value(field.name, user, hash).map { $0 == field.value } ?? false }
    }

    /// Whether only a hash of the value is stored. Some fields are known to contain no secret of the user.
    static func isSecret(_ name: String) -> Bool { !negotiating.contains(name) && !harmless.contains(name) }

    static func hasSecrets(_ response: HTTPFields) -> Bool {
        response.contains(.vary) && names(response).contains(where: isSecret)
    }

    /// The value to store. The inner optional is nil without such a field, the outer one if the value cannot be stored.
    private static func value(_ name: String, _ user: CacheUser, _ hash: KeyedHash?) -> String?? {
        if name == "*" { return nil }
        // Some schemes send another value with each request, so the credential is compared instead.
        if name == "authorization" {
            guard let credentials = user.credentials else { return nil }
            guard credentials.authorization != .none else { return .some(nil) }
            return hash.flatMap { credentials.authorizationIdentity($0) }?.base64EncodedString()
        }
        guard let value = normalized(user.fields, name) else { return .some(nil) }
        guard isSecret(name) else { return value }
        return hash?.hash(of: Data("\(name): \(value)".utf8))?.base64EncodedString()
    }

    private static func names(_ response: HTTPFields) -> [String] {
        let names = response.namesListed(in: .vary)
        return names.count > HTTPFields.maximumListedNames ? ["*"] : names
    }

    /// The field's value in a normal form, as §4.1 allows: lines joined, and no spaces around commas. In the fields of
    /// content negotiation, case and order have no meaning (RFC 9110 §12.5).
    private static func normalized(_ request: HTTPFields, _ name: String) -> String? {
        let values = request.values(named: name)
        guard !values.isEmpty else { return nil }
        // Commas in quoted strings do not separate elements.
        var elements = values.joined(separator: ",").splitOutsideQuotes(at: ",").map { $0.trimmingHTTPWhitespace }
        if negotiating.contains(name) { elements = elements.map { $0.lowercased() }.sorted() }
        return elements.joined(separator: ",")
    }

    private static let negotiating: Set = ["accept", "accept-charset", "accept-encoding", "accept-language"]
    private static let harmless: Set = ["host", "origin", "range", "user-agent", "x-requested-with"]
}
