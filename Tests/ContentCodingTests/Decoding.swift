import LoadingKitContentCoding

/// Decodes a body that arrives in pieces, with room for a number of bytes at a time.
///
/// - Throws: the decoder's error; `DecodingFlaw` where the decoder breaks its own promises.
func decoded(
    _ pieces: [ArraySlice<UInt8>], _ contentEncoding: String, room: Int = 4096,
    limits: DecompressionLimits = DecompressionLimits()
) throws -> [UInt8] {
    guard let decoder = ContentDecoder(contentEncoding: contentEncoding, limits: limits) else {
        throw DecodingFlaw.noDecoder
    }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: room)
    for piece in pieces {
        try piece.withUnsafeBytes { input in
            var position = 0
            while true {
                let count = try buffer.withUnsafeMutableBytes {
                    try decoder.decode(input, position: &position, into: $0)
                }
                guard (0...room).contains(count), (0...input.count).contains(position) else {
                    throw DecodingFlaw.outOfBounds
                }
                if count == 0 { break }
                output += buffer[..<count]
            }
            guard position == input.count else { throw DecodingFlaw.inputLeft }
        }
    }
    try decoder.finish()
    return output
}

func decoded(
    _ body: [UInt8], _ contentEncoding: String, room: Int = 4096, limits: DecompressionLimits = DecompressionLimits()
) throws -> [UInt8] {
    try decoded([body[...]], contentEncoding, room: room, limits: limits)
}

enum DecodingFlaw: Error {
    case noDecoder
    case outOfBounds
    /// The decoder wants more, though it has not used what it has.
    case inputLeft
}

/// The error's kind; nil where there is none.
func failure(
    _ pieces: [ArraySlice<UInt8>], _ contentEncoding: String, room: Int = 4096,
    limits: DecompressionLimits = DecompressionLimits()
) -> ContentCodingError.Kind? {
    do {
        _ = try decoded(pieces, contentEncoding, room: room, limits: limits)
        return nil
    } catch let error as ContentCodingError {
        return error.kind
    } catch {
        return .corrupt("DecodingFlaw")
    }
}

func failure(_ body: [UInt8], _ contentEncoding: String) -> ContentCodingError.Kind? {
    failure([body[...]], contentEncoding)
}

/// The result of decoding more input, without the end of the body.
func drained(_ decoder: ContentDecoder, _ input: [UInt8]) throws -> [UInt8] {
    var output: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 4096)
    try input.withUnsafeBytes { input in
        var position = 0
        while true {
            let count = try room.withUnsafeMutableBytes { try decoder.decode(input, position: &position, into: $0) }
            if count == 0 { break }
            output += room[..<count]
        }
    }
    return output
}
