#if Brotli
    import CLoadingKitBrotli

    /// One stream of brotli (RFC 7932), decoded by libbrotlidec. Its window is at most 16 MiB; only the part that the
    /// body fills is used.
    final class BrotliStream: CodingStream {
        private enum State {
            case new
            case running(OpaquePointer)
            case ended(BytesBehind)
            case failed(ContentCodingError)
        }

        private var state = State.new

        deinit { close() }

        var isComplete: Bool { if case .ended = state { true } else { false } }

        func decode(
            _ input: UnsafeRawBufferPointer, _ position: inout Int, into output: UnsafeMutableRawBufferPointer
        ) throws(ContentCodingError) -> Int {
            switch state {
            case .failed(let error): throw error
            case .ended(var behind):
                if let problem = behind.take(input, &position) { throw fail(problem) }
                state = .ended(behind)
                return 0
            case .running(let decoder): return try decode(decoder, input, &position, output)
            case .new:
                guard position < input.count else { return 0 }
                guard let decoder = BrotliDecoderCreateInstance(nil, nil, nil) else { throw fail(.outOfMemory) }
                state = .running(decoder)
                return try decode(decoder, input, &position, output)
            }
        }

        private func decode(
            _ decoder: OpaquePointer, _ input: UnsafeRawBufferPointer, _ position: inout Int,
            _ output: UnsafeMutableRawBufferPointer
        ) throws(ContentCodingError) -> Int {
            let piece = UnsafeRawBufferPointer(rebasing: input[min(position, input.count)...])
            var next = piece.bindMemory(to: UInt8.self).baseAddress
            var unread = piece.count
            var place = output.bindMemory(to: UInt8.self).baseAddress
            var room = output.count
            let result = BrotliDecoderDecompressStream(decoder, &unread, &next, &room, &place, nil)
            position += piece.count - unread
            let count = output.count - room
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS:
                close()
                state = .ended(BytesBehind())
                if count == 0 { return try decode(input, &position, into: output) }
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: break
            case _:
                // The bytes that libbrotlidec decoded before the error are returned first. It keeps those of its
                // window.
                let error = fail(Self.flaw(BrotliDecoderGetErrorCode(decoder)))
                guard count > 0 else { throw error }
            }
            return count
        }

        private static func flaw(_ code: BrotliDecoderErrorCode) -> ContentCodingError.Kind {
            let allocations =
                BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES.rawValue...BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES.rawValue
            if allocations.contains(code.rawValue) { return .outOfMemory }
            // The room decides which of both libbrotlidec finds.
            let lengths = [BROTLI_DECODER_ERROR_FORMAT_BLOCK_LENGTH_1, BROTLI_DECODER_ERROR_FORMAT_BLOCK_LENGTH_2]
            if lengths.contains(code) { return .corrupt("BLOCK_LENGTH") }
            return .corrupt(BrotliDecoderErrorString(code).map { String(cString: $0) } ?? "error \(code.rawValue)")
        }

        private func fail(_ kind: ContentCodingError.Kind) -> ContentCodingError {
            let error = ContentCodingError(coding: .brotli, kind: kind)
            close()
            state = .failed(error)
            return error
        }

        private func close() {
            if case .running(let decoder) = state { BrotliDecoderDestroyInstance(decoder) }
        }
    }
#endif
