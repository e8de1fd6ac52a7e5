import LoadingKitHPACK
import LoadingKitPrimitives

/// The header compression of both directions (RFC 9113 §4.3). It connects HPACK with the messages of §8.
struct HeaderCoding {
    private var decoder: HPACKDecoder
    private var encoder = HPACKEncoder()
    /// The list that was last decoded. Its memory is reused unless a caller has kept it.
    private(set) var list = HPACKHeaderList()
    /// The block that was last encoded.
    private(set) var block: [UInt8] = []

    init(limits: HTTP2Limits) {
        var hpackLimits = HPACKLimits()
        hpackLimits.listBytes = limits.headerListBytes
        hpackLimits.fieldCount = limits.fieldCount
        decoder = HPACKDecoder(limits: hpackLimits)
    }

    /// Sets the value of this side's SETTINGS_HEADER_TABLE_SIZE that the peer has acknowledged.
    mutating func setDecoderTableSize(_ size: Int) { decoder.setMaximumTableSize(size) }

    /// Sets the peer's SETTINGS_HEADER_TABLE_SIZE.
    mutating func setEncoderTableSize(_ size: Int) { encoder.setMaximumTableSize(size) }

    /// Decodes a block into ``list``.
    mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        do throws(HPACKError) {
            try decoder.decode(bytes, into: &list)
        } catch {
            throw HTTP2Error(.compression)
        }
    }

    /// Throws the error of ``list`` in any kind of message.
    ///
    /// - Parameter isResponse: white space around values is removed then, as other clients do: servers forward it from
    ///   HTTP/1.1, where it is not part of the value (RFC 9110 §5.5).
    mutating func check(isResponse: Bool) throws(HTTP2Error.Kind) {
        guard let problem = list.problem else { return }
        guard isResponse, problem == .malformedFieldValue else { throw problem }
        list.trimValues()
        if let problem = list.problem { throw problem }
    }

    /// Encodes a request's head, unless it is longer than `limit`, counted as for SETTINGS_MAX_HEADER_LIST_SIZE
    /// (§10.5.1).
    mutating func encode(_ head: HTTP2RequestHead, limit: UInt32?) throws(HTTP2Error) {
        let pseudoFields =
            if let scheme = head.scheme, let path = head.path {
                HPACKPseudoFields.request(
                    method: head.method, scheme: scheme, authority: head.authority, path: path,
                    protocol: head.connectProtocol)
            } else {
                HPACKPseudoFields.connect(authority: head.authority ?? "")
            }
        if let limit, HPACKEncoder.uncompressedBytes(pseudoFields, head.fields) > Int(limit) {
            throw HTTP2Error(.headerListTooLong, .call)
        }
        encode(pseudoFields, head.fields)
    }

    mutating func encode(status: Int, _ fields: HTTPFields) { encode(.response(status: status), fields) }

    mutating func encode(trailers: HTTPFields) { encode(.none, trailers) }

    private mutating func encode(_ pseudoFields: HPACKPseudoFields, _ fields: HTTPFields) {
        block.removeAll(keepingCapacity: true)
        encoder.encode(pseudoFields, fields, into: &block)
    }
}

/// The rules for this side's messages (RFC 9113 §8.2, §8.3). An error ends neither stream nor connection, as no bytes
/// were sent.
enum SendRules {
    static func check(_ fields: HTTPFields) throws(HTTP2Error) {
        let problem = fields.withEntries { entries, bytes -> HTTP2Error.Kind? in
            for entry in entries {
                let value = entry.value(in: bytes)
                if ConnectionFields.contains(entry.known, value) { return .connectionFieldSent }
                guard ASCII.isToken(entry.name(in: bytes)), FieldBytes.isValue(value) else { return .invalidValue }
            }
            return nil
        }
        if let problem { throw HTTP2Error(problem, .call) }
    }

    /// Checks a head except its ``HTTP2RequestHead/fields``.
    static func check(_ head: HTTP2RequestHead, allowsConnectProtocol: Bool) throws(HTTP2Error) {
        var method = head.method
        let isToken = method.withUTF8 { ASCII.isToken(UnsafeRawBufferPointer($0)) }
        let hasTarget: Bool
        if head.method == "CONNECT", head.connectProtocol == nil {
            // §8.5: the head has only an authority.
            hasTarget = head.scheme == nil && head.path == nil && head.authority.map(FieldBytes.isVisible) == true
        } else {
            hasTarget =
                head.scheme.map(FieldBytes.isVisible) == true && head.path.map(FieldBytes.isVisible) == true
                && head.authority.map(FieldBytes.isVisible) != false
        }
        guard isToken, hasTarget else { throw HTTP2Error(.invalidValue, .call) }
        if let name = head.connectProtocol {
            // RFC 8441 §4: allowed with CONNECT, after the server has announced its support.
            guard head.method == "CONNECT", allowsConnectProtocol, FieldBytes.isVisible(name) else {
                throw HTTP2Error(.invalidValue, .call)
            }
        }
    }
}

/// The fields that describe an HTTP/1.1 connection, and are not allowed in HTTP/2 (RFC 9113 §8.2.2).
enum ConnectionFields {
    /// Whether a field is one of them. `TE` is one, unless its value is `trailers`.
    @inline(__always)
    static func contains(_ known: KnownField, _ value: @autoclosure () -> UnsafeRawBufferPointer) -> Bool {
        known.isConnectionSpecific || (known == .te && !ASCII.equalsIgnoringCase(value(), "trailers"))
    }
}

extension HTTPFields {
    /// Removes the fields that describe an HTTP/1.1 connection (RFC 9113 §8.2.2), which HTTP/2 does not allow. `TE` is
    /// removed, too, unless its value is `trailers`.
    public mutating func removeConnectionFields() {
        for known in KnownField.connectionSpecific { remove(known) }
        guard let index = firstIndex(of: .te) else { return }
        if withBytes(at: index, { ConnectionFields.contains($2, $1) }) { remove(.te) }
    }
}

/// The bytes that are allowed in a field's value when it is sent (RFC 9113 §8.2.1, RFC 9110 §5). A name is a token,
/// which is converted to lowercase.
enum FieldBytes {
    /// Whether the bytes are a value that may be sent: no NUL, CR or LF, and no leading or trailing white space.
    static func isValue(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let first = value.first, let last = value.last else { return true }
        guard !ASCII.isSpace(first), !ASCII.isSpace(last) else { return false }
        for byte in value where byte < 0x0e && (byte == 0 || byte == 0x0a || byte == 0x0d) { return false }
        return true
    }

    /// Whether the text, a path or an authority, is not empty and has no white space or control character.
    static func isVisible(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            for byte in bytes where byte <= 0x20 || byte == 0x7f { return false }
            return !bytes.isEmpty
        }
    }
}
