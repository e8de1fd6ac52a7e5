import CLoadingKitZlib

/// One stream of gzip or deflate, decoded by zlib. A gzip body may have several members (RFC 1952 §2.2).
final class InflateStream: CodingStream {
    private enum State {
        /// The first bytes of deflate distinguish a zlib header (RFC 1950, required by the standard) from raw deflate
        /// (RFC 1951, sent by some servers).
        case undecided(first: UInt8?)
        case running
        /// Between gzip members: another member may follow, or padding, which is ignored.
        case betweenMembers(first: UInt8?)
        case ended(BytesBehind)
        case failed(ContentCodingError)
    }

    private let coding: ContentCoding
    private var stream = z_stream()
    private var isMade = false
    /// The stream's first bytes, which were examined before zlib gets them.
    private var prefix: ArraySlice<UInt8> = []
    private var state: State

    init(_ coding: ContentCoding) {
        self.coding = coding
        state = .undecided(first: nil)
        if coding == .gzip { state = .betweenMembers(first: nil) }
    }

    deinit { if isMade { inflateEnd(&stream) } }

    var isComplete: Bool {
        switch state {
        case .ended: true
        case .betweenMembers: isMade
        case .undecided, .running, .failed: false
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
            case .undecided(let first):
                guard try begin(deflate: first, input, &position) else { return 0 }
            case .betweenMembers(let first):
                guard try begin(member: first, input, &position) else { return 0 }
            }
        }
    }

    /// Returns false if more input is needed.
    private func begin(
        deflate first: UInt8?, _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(ContentCodingError) -> Bool {
        guard let (a, b) = twoBytes(first, input, &position, wait: { .undecided(first: $0) }) else { return false }
        let isZlib = a & 0x0f == 8 && a >> 4 <= 7 && (Int(a) << 8 | Int(b)) % 31 == 0
        try start(windowBits: isZlib ? 15 : -15, [a, b])
        return true
    }

    private func begin(
        member first: UInt8?, _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(ContentCodingError) -> Bool {
        guard let (a, b) = twoBytes(first, input, &position, wait: { .betweenMembers(first: $0) }) else { return false }
        guard a == 0x1f && b == 0x8b else {
            // Bytes after the last member are ignored, as in other clients, but there must be at least one member.
            guard isMade else { throw fail(.corrupt("it does not begin with gzip's magic number")) }
            state = .ended(BytesBehind(2))
            return true
        }
        try start(windowBits: 31, [a, b])
        return true
    }

    private func twoBytes(
        _ first: UInt8?, _ input: UnsafeRawBufferPointer, _ position: inout Int, wait: (UInt8?) -> State
    ) -> (UInt8, UInt8)? {
        var first = first
        if first == nil, position < input.count {
            first = input[position]
            position += 1
        }
        guard let a = first, position < input.count else {
            state = wait(first)
            return nil
        }
        defer { position += 1 }
        return (a, input[position])
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
