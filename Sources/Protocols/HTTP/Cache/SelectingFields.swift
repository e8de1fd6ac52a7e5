import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// The request's fields that a response was chosen by, as its `Vary` names them (RFC 9111 §4.1).
enum SelectingFields {
    /// `Vary: *`: no later request is known to be answered alike.
    static func matchesNothing(_ response: HTTPFields) -> Bool {
        guard response.contains(.vary) else { return false }
        return names(response).contains("*")
    }

    /// What to keep of a request beside its response.
    ///
    /// Credentials that a program puts into a request by hand count as if every response named them, but for those that
    /// are `public`: a program may act for several people, whose responses a private cache would not tell apart.
    ///
    /// - Parameters:
    ///   - request: its fields as they were sent.
    ///   - credentials: the program's own.
    static func of(
        _ request: HTTPFields, credentials: HTTPFields, for response: HTTPFields
    ) -> [CacheMetadata.SelectingField] {
        let isPublic = CacheControl(response).has(.isPublic)
        let implicit = isPublic ? [] : credentialFields.filter { credentials.contains($0.known) }.map(\.name)
        guard response.contains(.vary) || !implicit.isEmpty else { return [] }
        return Set(names(response) + implicit).sorted().map {
            CacheMetadata.SelectingField(name: $0, value: normalized(request, $0))
        }
    }

    /// Whether a later request would have been answered by the same response.
    static func match(_ stored: StoredResponse, credentials: HTTPFields, sent: () -> HTTPFields) -> Bool {
        let selecting = stored.metadata.selectingFields
        for (known, name) in credentialFields where credentials.contains(known) && !stored.control.has(.isPublic) {
            guard selecting.contains(where: { $0.name == name }) else { return false }
        }
        guard !selecting.isEmpty else { return true }
        let request = sent()
        return selecting.allSatisfy { $0.value == normalized(request, $0.name) }
    }

    private static let credentialFields: [(known: KnownField, name: String)] = [
        (.authorization, "authorization"), (.cookie, "cookie"),
    ]

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
