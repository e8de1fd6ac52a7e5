import LoadingKitHPACK
// HTTPFields and KnownField are part of this module's API.
@_exported import LoadingKitPrimitives

/// A request's pseudo-header fields and fields (RFC 9113 §8.3.1).
public struct HTTP2RequestHead: Sendable, Equatable {
    /// `:method`, for example `GET`.
    public var method: String
    /// `:scheme`; nil only for CONNECT.
    public var scheme: String?
    /// `:authority`: host and port.
    public var authority: String?
    /// `:path` with the query, or `*`; nil only for CONNECT.
    public var path: String?
    /// `:protocol` of extended CONNECT (RFC 8441), for example `websocket`.
    public var connectProtocol: String?
    /// The other fields. Fields that describe an HTTP/1.1 connection are not allowed; `Host` is allowed.
    public var fields: HTTPFields

    /// Makes a head.
    public init(
        method: String, scheme: String?, authority: String?, path: String?, connectProtocol: String? = nil,
        fields: HTTPFields = HTTPFields()
    ) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.connectProtocol = connectProtocol
        self.fields = fields
    }
}

/// The header fields that begin, interrupt or end a message (RFC 9113 §8).
public enum HTTP2Head: Sendable, Equatable {
    /// The header fields of a request.
    case request(HTTP2RequestHead)
    /// The header fields of an interim (1xx) response. Another response follows.
    case interim(status: Int, HTTPFields)
    /// The header fields of the final response.
    case response(status: Int, HTTPFields)
    /// Trailer fields, without those that are not allowed in trailers (RFC 9110 §6.5.1). The stream ends with them.
    case trailers(HTTPFields)
}

/// A header list that is the head of a message (RFC 9113 §8).
extension HPACKHeaderList {
    /// The error of the list in any kind of message; nil if it is valid.
    var problem: HTTP2Error.Kind? {
        if exceedsLimits { return .headerListTooLarge }
        if malformation.isEmpty { return nil }
        if !malformation.isDisjoint(with: [.misplacedPseudoField, .unknownPseudoField, .duplicatePseudoField]) {
            return .malformedPseudoField
        }
        if !malformation.isDisjoint(with: [.uppercaseName, .invalidName]) { return .malformedFieldName }
        return malformation.contains(.connectionSpecificField) ? .connectionField : .malformedFieldValue
    }

    /// The status of a response (§8.3.2).
    func responseStatus() throws(HTTP2Error.Kind) -> Int {
        guard !hasRequestPseudoFields else { throw .requestInResponse }
        guard contains(.status) else { throw .missingPseudoField }
        guard let status else { throw .malformedStatus }
        return status
    }

    /// The head of a request (§8.3.1, §8.5, RFC 8441 §4).
    func requestHead(allowsConnectProtocol: Bool) throws(HTTP2Error.Kind) -> HTTP2RequestHead {
        guard !contains(.status) else { throw .requestInResponse }
        guard let method else { throw .missingPseudoField }
        let isTunnel = method == "CONNECT" && !contains(.protocol)
        if contains(.protocol), method != "CONNECT" || !allowsConnectProtocol { throw .malformedPseudoField }
        if isTunnel {
            guard !contains(.scheme), !contains(.path) else { throw .malformedPseudoField }
            guard contains(.authority) else { throw .missingPseudoField }
        } else {
            guard contains(.scheme), contains(.path) else { throw .missingPseudoField }
        }
        let head = HTTP2RequestHead(
            method: method, scheme: scheme, authority: authority, path: path, connectProtocol: self.protocol,
            fields: fields)
        guard !head.method.isEmpty, head.scheme != "", head.path != "", head.authority != "" || !isTunnel else {
            throw .malformedPseudoField
        }
        return head
    }
}

extension HTTPFields {
    /// The value of content-length; nil without the field. Repeated equal values count as one.
    func contentLength() throws(HTTP2Error.Kind) -> Int64? {
        let (length, isMalformed) = withEntries { entries, bytes -> (Int64?, Bool) in
            var length: Int64?
            for entry in entries where entry.knownNumber == KnownField.contentLength.rawValue {
                let number = ASCII.decimal(entry.value(in: bytes)).flatMap { Int64(exactly: $0) }
                guard let number, length == nil || length == number else { return (nil, true) }
                length = number
            }
            return (length, false)
        }
        guard !isMalformed else { throw .malformedContentLength }
        return length
    }
}

/// The `Priority` field of a request (RFC 9218).
public enum RequestPriority {
    /// The field's value for a priority from 0 (lowest) to 1 (highest); nil for 0.5, for which no field is needed.
    ///
    /// The eight urgencies are distributed over the range so that Apple's three named priorities fit: 0.25 is 5, 0.5 is
    /// 3 and 0.75 is 2. Numbers outside the range count as the nearest number in it, and NaN as 0.5.
    public static func fieldValue(_ priority: Float, incremental: Bool = false) -> String? {
        let urgency = urgency(priority)
        switch (urgency == 3, incremental) {
        case (true, true): return "i"
        case (true, false): return nil
        case (false, true): return "u=\(urgency), i"
        case (false, false): return "u=\(urgency)"
        }
    }

    /// The urgency of a priority from 0 to 1: from 0 (first) to 7 (last).
    public static func urgency(_ priority: Float) -> Int {
        guard !priority.isNaN else { return 3 }
        let bounded = min(max(priority, 0), 1)
        // 0.5 is the default urgency 3. There are three steps above it and four below it.
        let steps = bounded >= 0.5 ? (1 - bounded) * 6 : 3 + (0.5 - bounded) * 8
        // `rounded()` is not used: every program that links this module would need the C library's mathematics.
        return Int(steps + 0.5)
    }
}
