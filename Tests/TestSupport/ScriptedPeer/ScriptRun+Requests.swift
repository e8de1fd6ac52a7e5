import LoadingKitLoopbackServer

/// Requests are read here with no help from the library's codec, so that a mistake there shows up.
extension ScriptRun {
    private static let lineEnd: [UInt8] = [0x0D, 0x0A]

    func readHead() throws {
        let head = try take(through: Self.lineEnd + Self.lineEnd)
        pendingRequest = RecordedRequest(connection: number, head: head)
    }

    func recordRequest(in recorder: Recorder<RecordedRequest>) {
        if let pendingRequest { recorder.append(pendingRequest) }
    }

    func readBody() throws {
        guard let head = pendingRequest else { return }
        if head[field: "Transfer-Encoding"]?.lowercased().hasSuffix("chunked") == true {
            pendingRequest?.body = try readChunks()
        } else if let count = head[field: "Content-Length"].flatMap({ Int($0) }), count > 0 {
            pendingRequest?.body = try take(count)
        }
    }

    private func readChunks() throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let line = String(decoding: try take(through: Self.lineEnd).dropLast(2), as: UTF8.self)
            let digits = line.prefix { $0 != ";" }
            guard let count = Int(digits, radix: 16), count >= 0 else { throw MalformedRequest(line: line) }
            if count == 0 { break }
            body += try take(count)
            let end = try take(2)
            guard end == Self.lineEnd else { throw MalformedRequest(line: "\(end) after a chunk") }
        }
        // Trailer fields, up to the empty line.
        while try take(through: Self.lineEnd) != Self.lineEnd {}
        return body
    }
}
