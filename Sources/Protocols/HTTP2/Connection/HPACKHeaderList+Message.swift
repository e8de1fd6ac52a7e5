import LoadingKitHPACK
import LoadingKitPrimitives

/// A header list as the head of a message (RFC 9113 §8).
extension HPACKHeaderList {
    /// What is wrong with the list in a message of any kind.
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
    /// The number that content-length gives, or nil without one; the same several times is taken as one.
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
