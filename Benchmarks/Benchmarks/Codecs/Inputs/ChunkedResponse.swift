/// A response with a chunked body.
struct ChunkedResponse {
    let head: [UInt8]
    /// The body as it is sent, in chunks.
    let chunks: [UInt8]
    /// The body as it is meant.
    let body: [UInt8]

    /// The whole of it.
    var bytes: [UInt8] { head + chunks }

    init(chunks count: Int, bytesEach size: Int) {
        head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        body = (0..<count * size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var chunks: [UInt8] = []
        for start in stride(from: 0, to: body.count, by: size) {
            chunks += Array("\(String(size, radix: 16))\r\n".utf8) + body[start..<start + size] + Array("\r\n".utf8)
        }
        self.chunks = chunks + Array("0\r\n\r\n".utf8)
    }
}
