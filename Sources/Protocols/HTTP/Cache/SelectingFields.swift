import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// The request's fields that a response was chosen by, as its `Vary` names them (RFC 9111 §4.1).
enum SelectingFields {
    /// `Vary: *`: no later request is known to be answered alike.
    static func matchesNothing(_ response: HTTPFields) -> Bool {
        guard response.contains(.vary) else { return false }
        return names(response).contains("*")
    }

    /// What to keep of a request beside its response; nil where there are secrets and nothing to hash them with.
    static func of(
        _ requester: Requester, for response: HTTPFields, _ hash: KeyedHash?
    ) -> [CacheMetadata.SelectingField]? {
        guard response.contains(.vary) else { return [] }
        var kept: [CacheMetadata.SelectingField] = []
        for name in Set(names(response)).sorted() {
            guard let value = value(name, requester, hash) else { return nil }
            kept.append(CacheMetadata.SelectingField(name: name, value: value))
        }
        return kept
    }

    /// Whether a later request would have been answered by the same response.
    static func match(_ stored: [CacheMetadata.SelectingField], _ requester: Requester, _ hash: KeyedHash?) -> Bool {
        stored.allSatisfy { field in value(field.name, requester, hash).map { $0 == field.value } ?? false }
    }

    /// Whether a field's value is kept hashed alone: it may be anything but those that are known to say nothing of the user.
    static func isSecret(_ name: String) -> Bool { !negotiating.contains(name) && !harmless.contains(name) }

    /// Whether secrets of the request are kept beside the response.
    static func haveSecrets(_ response: HTTPFields) -> Bool {
        response.contains(.vary) && names(response).contains(where: isSecret)
    }

    /// What is kept of a field: nil inside where the request had none, nil outside where it cannot be kept.
    private static func value(_ name: String, _ requester: Requester, _ hash: KeyedHash?) -> String?? {
        // What a scheme sends is another value with each request.
        if name == "authorization" {
            guard let credentials = requester.credentials else { return nil }
            guard credentials.authorization != .none else { return .some(nil) }
            return hash.flatMap { credentials.authorizationIdentity($0) }?.base64EncodedString()
        }
        guard let value = normalized(requester.fields, name) else { return .some(nil) }
        guard isSecret(name) else { return value }
        return hash?.hash(of: Data("\(name): \(value)".utf8))?.base64EncodedString()
    }

    private static func names(_ response: HTTPFields) -> [String] {
        response.values(of: .vary).flatMap { $0.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" } }
            .map(String.init)
    }

    /// The field's value in a form in which those of the same meaning are the same, as §4.1 allows: lines joined, no
    /// spaces around commas. In the fields of content negotiation neither case nor order has a meaning (RFC 9110 §12.5).
    private static func normalized(_ request: HTTPFields, _ name: String) -> String? {
        let values = request.values(named: name)
        guard !values.isEmpty else { return nil }
        var elements = values.joined(separator: ",").elements
        if negotiating.contains(name) { elements = elements.map { $0.lowercased() }.sorted() }
        return elements.joined(separator: ",")
    }

    private static let negotiating: Set = ["accept", "accept-charset", "accept-encoding", "accept-language"]
    private static let harmless: Set = ["host", "origin", "range", "user-agent", "x-requested-with"]
}

extension String {
    /// The parts between commas that stand in no quoted string, without the spaces around them.
    fileprivate var elements: [String] {
        var parts = [[UInt8]()]
        var isQuoted = false
        var isEscaped = false
        for byte in utf8 {
            if byte == UInt8(ascii: ","), !isQuoted {
                parts.append([])
                continue
            }
            parts[parts.count - 1].append(byte)
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: "\\"), isQuoted {
                isEscaped = true
            }
        }
        return parts.map { part in
            part.withUnsafeBytes { String(decoding: $0.trimmingSpaces, as: UTF8.self) }
        }
    }
}
