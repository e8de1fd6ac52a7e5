import LoadingKitHPACK
import LoadingKitPrimitives

/// Header compression of both directions (RFC 9113 §4.3), between HPACK and the messages of §8.
struct HeaderCoding {
    private var decoder: HPACKDecoder
    private var encoder = HPACKEncoder()
    /// The list that was decoded last. Its memory is used again where no caller has kept it.
    private(set) var list = HPACKHeaderList()
    /// The block that was encoded last.
    private(set) var block: [UInt8] = []

    init(limits: HTTP2Limits) {
        var hpackLimits = HPACKLimits()
        hpackLimits.listBytes = limits.headerListBytes
        hpackLimits.fieldCount = limits.fieldCount
        decoder = HPACKDecoder(limits: hpackLimits)
    }

    /// What the peer has acknowledged of this side's SETTINGS_HEADER_TABLE_SIZE.
    mutating func setDecoderTableSize(_ size: Int) { decoder.setMaximumTableSize(size) }

    /// The peer's SETTINGS_HEADER_TABLE_SIZE.
    mutating func setEncoderTableSize(_ size: Int) { encoder.setMaximumTableSize(size) }

    /// Decodes a block into ``list``.
    mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        do throws(HPACKError) {
            try decoder.decode(bytes, into: &list)
        } catch {
            throw HTTP2Error(.compression)
        }
    }

    /// Encodes a request's head, unless it is longer than `limit` as SETTINGS_MAX_HEADER_LIST_SIZE counts (§10.5.1).
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
