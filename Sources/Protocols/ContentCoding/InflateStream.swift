import CLoadingKitZlib

/// One stream of gzip or deflate, decoded by zlib. A gzip body may have several members (RFC 1952 §2.2).
final class InflateStream: CodingStream {
    private enum State {
        /// Before the stream, and between gzip members: another member may follow, or padding, which is ignored.
        case betweenMembers(first: UInt8?)
        case running
        case ended(BytesBehind)
        case failed(ContentCodingError)
    }

    private let coding: ContentCoding
    private var stream = z_stream()
    private var isMade = false
    /// The stream's first bytes, which were examined before zlib gets them.
    private var prefix: ArraySlice<UInt8> = []
    private var state = State.betweenMembers(first: nil)

    init(_ coding: ContentCoding) { self.coding = coding }

    deinit { if isMade { inflateEnd(&stream) } }

    var isComplete: Bool {
        switch state {
        case .ended: true
        case .betweenMembers: isMade
        case .running, .failed: false
        }
    }

    func decode(
        _ input: UnsafeRawBufferPointer, _ position: inout Int, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> Int {
        while true {
            switch state {
            case .failed(let error): throw error
            case .ended(var behind):
                if let problem = behind.take(input, &position) { throw fail(problem) }
                state = .ended(behind)
                return 0
            case .running:
                let count = try inflate(input, &position, output)
                if count > 0 { return count }
                if case .running = state { return 0 }
            case .betweenMembers(let first):
                guard try begin(first, input, &position) else { return 0 }
            }
        }
    }

    /// Returns false if more input is needed: the first two bytes are examined before zlib gets them.
    private func begin(
        _ first: UInt8?, _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(ContentCodingError) -> Bool {
        var first = first
        if first == nil, position < input.count {
            first = input[position]
            position += 1
        }
        guard let a = first, position < input.count else {
            state = .betweenMembers(first: first)
            return false
        }
        let b = input[position]
        position += 1
        if coding == .gzip, a != 0x1f || b != 0x8b {
            // Bytes after the last member are ignored, as in other clients, but there must be at least one member.
            guard isMade else { throw fail(.corrupt("it does not begin with gzip's magic number")) }
            state = .ended(BytesBehind(2))
        } else {
            // Deflate has a zlib header (RFC 1950) by the standard; some servers send it raw (RFC 1951).
            let isZlib = a & 0x0f == 8 && a >> 4 <= 7 && (Int(a) << 8 | Int(b)) % 31 == 0
            try start(windowBits: coding == .gzip ? 31 : isZlib ? 15 : -15, [a, b])
        }
        return true
    }

    private func start(windowBits: Int32, _ head: [UInt8]) throws(ContentCodingError) {
        let result =
            isMade
            ? inflateReset2(&stream, windowBits)
            : inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard result == Z_OK else { throw fail(.outOfMemory) }
        isMade = true
        state = .running
        prefix = head[...]
    }

    private func inflate(
        _ input: UnsafeRawBufferPointer, _ position: inout Int, _ output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> Int {
        if !prefix.isEmpty {
            var used = 0
            let bytes = prefix
            let result = bytes.withUnsafeBytes { run($0, &used, output) }
            prefix = prefix.dropFirst(used)
            let count = try check(result)
            if count > 0 || !prefix.isEmpty { return count }
            guard case .running = state else { return 0 }
        }
        return try check(run(UnsafeRawBufferPointer(rebasing: input[min(position, input.count)...]), &position, output))
    }

    private func run(
        _ input: UnsafeRawBufferPointer, _ used: inout Int, _ output: UnsafeMutableRawBufferPointer
    ) -> (code: Int32, count: Int) {
        let given = UInt32(clamping: input.count)
        let room = UInt32(clamping: output.count)
        stream.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.avail_in = given
        stream.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.avail_out = room
        let code = CLoadingKitZlib.inflate(&stream, Z_NO_FLUSH)
        used += Int(given - stream.avail_in)
        return (code, Int(room - stream.avail_out))
    }

    /// Bytes that were decoded before an error are returned first, and the next call throws the error, so that the
    /// result does not depend on the division of the input.
    private func check(_ result: (code: Int32, count: Int)) throws(ContentCodingError) -> Int {
        switch result.code {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: state = coding == .gzip ? .betweenMembers(first: nil) : .ended(BytesBehind())
        case let code:
            let error = fail(flaw(code))
            guard result.count > 0 else { throw error }
        }
        return result.count
    }

    private func flaw(_ code: Int32) -> ContentCodingError.Kind {
        switch code {
        case Z_MEM_ERROR: .outOfMemory
        case Z_NEED_DICT: .corrupt("it needs a dictionary")
        case _: .corrupt(stream.msg.map { String(cString: $0) } ?? "zlib error \(code)")
        }
    }

    private func fail(_ kind: ContentCodingError.Kind) -> ContentCodingError {
        let error = ContentCodingError(coding: coding, kind: kind)
        state = .failed(error)
        return error
    }
}
