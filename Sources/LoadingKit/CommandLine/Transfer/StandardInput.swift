import Foundation
@_spi(LoadingKitPlugins) import LoadingKitForms
import LoadingKitPrimitives

/// Standard input as the body of one load. It is read once, from its current position, whatever kind of file it is.
final class StandardInput: Sendable {
    private enum State {
        case unread, read, withdrawn
    }

    private let descriptor: Int32
    private let state = Guarded(State.unread)

    init(_ descriptor: Int32 = STDIN_FILENO) { self.descriptor = descriptor }

    func makeStream() -> InputStream {
        ReadingStream { [self] in
            try begin()
            return { try self.read(into: $0) }
        }
    }

    /// Prevents reading of the stream. Returns false if a read has begun: those bytes cannot be read again.
    func withdraw() -> Bool { enter(.withdrawn) }

    private func begin() throws { if !enter(.read) { throw ReadError(code: ECANCELED) } }

    /// Enters `next` if nothing was read yet. Returns whether the state is now `next`.
    private func enter(_ next: State) -> Bool {
        state.withLock { state in
            if state == .unread { state = next }
            return state == next
        }
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            switch errno {
            case EAGAIN: waitUntilReady(descriptor, for: POLLIN)
            case EINTR: break
            case let code: throw ReadError(code: code)
            }
        }
    }

    private struct ReadError: Error, CustomStringConvertible {
        let code: Int32

        var description: String { "standard input cannot be read: \(String(cString: strerror(code)))" }
    }
}
