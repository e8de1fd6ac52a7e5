/// The pseudo-header fields of a message to be encoded. Make one with the function that names the kind of message.
public struct HPACKPseudoFields: Sendable, Equatable {
    /// The names and values, in the order in which they are encoded.
    let values: [Value]

    struct Value: Sendable, Equatable {
        var name: HPACKPseudoFieldName
        var text: String
    }

    private init(_ fields: [(HPACKPseudoFieldName, String?)]) {
        values = fields.compactMap { name, text in text.map { Value(name: name, text: $0) } }
    }

    /// None: for a trailer section (RFC 9113 §8.1).
    public static let none = HPACKPseudoFields([])

    /// Those of a request (RFC 9113 §8.3.1); `protocol` for extended CONNECT only (RFC 8441 §4).
    public static func request(
        method: String, scheme: String, authority: String?, path: String, protocol: String? = nil
    ) -> HPACKPseudoFields {
        HPACKPseudoFields([
            (.method, method), (.protocol, `protocol`), (.scheme, scheme), (.authority, authority), (.path, path),
        ])
    }

    /// Those of a CONNECT request for a tunnel to `authority`, which is `host:port` (RFC 9113 §8.5).
    public static func connect(authority: String) -> HPACKPseudoFields {
        HPACKPseudoFields([(.method, "CONNECT"), (.authority, authority)])
    }

    /// That of a response, with a status of three digits (RFC 9113 §8.3.2).
    public static func response(status: Int) -> HPACKPseudoFields { HPACKPseudoFields([(.status, String(status))]) }
}
