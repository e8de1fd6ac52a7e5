#if Zstd
    import CLoadingKitZstd

    /// The frames of a zstd body (RFC 8878 §3), decoded by libzstd. Behind a frame another one, or a skippable one, may
    /// follow if the bytes begin with the magic number.
    final class ZstdStream: CodingStream {
        private enum State {
            /// A frame's head is collected here and passed to libzstd separately. If libzstd gets a whole frame at
            /// once, it does not check the window size, and it accepts formats older than the RFC.
            case betweenFrames(head: [UInt8])
            /// - mayHaveMore: whether libzstd may have held back output for lack of room.
            case inFrame(mayHaveMore: Bool)
            case skipping(UInt32)
            case ended(BytesBehind)
            case failed(ContentCodingError)
        }

        /// RFC 9659 §3: 8 MiB, the largest amount of memory that a body can make the decoder allocate.
        private static let maximumWindowLog: Int32 = 23

        private var decoder: OpaquePointer?
        private var state = State.betweenFrames(head: [])
        private var hasFrame = false

        deinit { ZSTD_freeDCtx(decoder) }

        var isComplete: Bool {
            switch state {
            case .betweenFrames(let head): hasFrame && (head.isEmpty || !Self.mayBegin(head))
            case .ended: true
            case .inFrame, .skipping, .failed: false
            }
        }

        func decode(
            _ input: UnsafeRawBufferPointer, _ position: inout Int, into output: UnsafeMutableRawBufferPointer
        ) throws(ContentCodingError) -> Int {
            while true {
                switch state {
                case .failed(let error): throw error
                case .inFrame(let mayHaveMore):
                    // If libzstd is called repeatedly without work, it returns an error.
                    guard position < input.count || mayHaveMore else { return 0 }
                    let count = try check(run(input, &position, output))
                    if count > 0 { return count }
                case .skipping(let count):
                    let skipped = min(count, UInt32(clamping: input.count - position))
                    position += Int(skipped)
                    guard skipped == count else {
                        state = .skipping(count - skipped)
                        return 0
                    }
                    state = .betweenFrames(head: [])
                case .ended(var behind):
                    if let problem = behind.take(input, &position) { throw fail(problem) }
                    state = .ended(behind)
                    return 0
                case .betweenFrames(let head):
                    guard try begin(head, input, &position, output) else { return 0 }
                }
            }
        }

        /// Returns false if more input is needed.
        private func begin(
            _ collected: [UInt8], _ input: UnsafeRawBufferPointer, _ position: inout Int,
            _ output: UnsafeMutableRawBufferPointer
        ) throws(ContentCodingError) -> Bool {
            var head = collected
            while head.count < size(ofHead: head) {
                guard position < input.count else {
                    state = .betweenFrames(head: head)
                    return false
                }
                head.append(input[position])
                position += 1
                if head.count == 4, !Self.begins(head) {
                    guard hasFrame else { throw fail(.corrupt("it does not begin with zstd's magic number")) }
                    state = .ended(BytesBehind(4))
                    return true
                }
            }
            hasFrame = true
            guard !Self.isSkipped(head) else {
                state = .skipping(Self.number(head[4..<8]))
                return true
            }
            try start()
            var used = 0
            state = .inFrame(mayHaveMore: false)
            _ = try check(head.withUnsafeBytes { run($0, &used, output) })
            return true
        }

        /// The head's size, or the number of its bytes that determine the size (RFC 8878 §3.1.1.1, §3.1.2).
        private func size(ofHead head: [UInt8]) -> Int {
            guard head.count >= 4 else { return 4 }
            if Self.isSkipped(head) { return 8 }
            guard head.count > 4 else { return 5 }
            let descriptor = head[4]
            let isSingleSegment = descriptor & 0x20 != 0
            let windowDescriptor = isSingleSegment ? 0 : 1
            let dictionary = descriptor & 3 == 3 ? 4 : Int(descriptor & 3)
            let contentSize = descriptor >> 6 == 0 ? 1 - windowDescriptor : 1 << (descriptor >> 6)
            return 5 + windowDescriptor + dictionary + contentSize
        }

        /// Whether the magic number is that of a frame (§3.1.1) or of a skippable one.
        private static func begins(_ head: [UInt8]) -> Bool {
            number(head.prefix(4)) == 0xfd2f_b528 || isSkipped(head)
        }

        /// Whether fewer bytes than a magic number are the beginning of one.
        private static func mayBegin(_ head: [UInt8]) -> Bool {
            let isFrame = zip(head, [0x28, 0xb5, 0x2f, 0xfd]).allSatisfy { $0 == $1 }
            let isSkipped =
                head.first.map { $0 & 0xf0 } == 0x50
                && zip(head.dropFirst(), [0x2a, 0x4d, 0x18]).allSatisfy { $0 == $1 }
            return isFrame || isSkipped
        }

        private static func isSkipped(_ head: [UInt8]) -> Bool { number(head.prefix(4)) & 0xffff_fff0 == 0x184d_2a50 }

        private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
            bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }

        private func start() throws(ContentCodingError) {
            guard decoder == nil else { return }
            decoder = ZSTD_createDCtx()
            guard decoder != nil,
                ZSTD_isError(ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, Self.maximumWindowLog)) == 0
            else { throw fail(.outOfMemory) }
        }

        private func run(
            _ input: UnsafeRawBufferPointer, _ position: inout Int, _ output: UnsafeMutableRawBufferPointer
        ) -> (code: Int, count: Int, fillsRoom: Bool) {
            var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: position)
            var room = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
            let code = ZSTD_decompressStream(decoder, &room, &source)
            position = source.pos
            return (code, room.pos, room.pos == room.size)
        }

        private func check(_ result: (code: Int, count: Int, fillsRoom: Bool)) throws(ContentCodingError) -> Int {
            guard ZSTD_isError(result.code) == 0 else { throw fail(Self.flaw(result.code)) }
            state = result.code == 0 ? .betweenFrames(head: []) : .inFrame(mayHaveMore: result.fillsRoom)
            return result.count
        }

        private static func flaw(_ result: Int) -> ContentCodingError.Kind {
            if ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation { return .outOfMemory }
            return .corrupt(ZSTD_getErrorName(result).map { String(cString: $0) } ?? "error \(result)")
        }

        private func fail(_ kind: ContentCodingError.Kind) -> ContentCodingError {
            let error = ContentCodingError(coding: .zstd, kind: kind)
            state = .failed(error)
            return error
        }
    }
#endif
