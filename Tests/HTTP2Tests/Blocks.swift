import LoadingKitHTTP2

/// Fields from pairs of names and values.
func fields(_ pairs: (String, String)...) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in pairs { fields.append(name: name, value: value) }
    return fields
}

/// Header blocks of literal fields with names of their own, which need no compression state (RFC 7541 §6.2.2).
func block(_ pairs: (String, String)...) -> [UInt8] { block(pairs) }

func block(_ pairs: [(String, String)]) -> [UInt8] {
    var block: [UInt8] = []
    for (name, value) in pairs {
        block.append(0)
        for text in [name, value] {
            block.append(UInt8(text.utf8.count))
            block.append(contentsOf: text.utf8)
        }
    }
    return block
}

/// A HEADERS frame with such a block.
func headersFrame(_ stream: UInt32, endStream: Bool = false, _ block: [UInt8]) -> [UInt8] {
    Bytes.frame(type: 1, flags: endStream ? 5 : 4, stream: stream, block)
}

let requestBlock = block((":method", "GET"), (":scheme", "https"), (":authority", "a.test"), (":path", "/"))
let responseBlock = block((":status", "200"))
