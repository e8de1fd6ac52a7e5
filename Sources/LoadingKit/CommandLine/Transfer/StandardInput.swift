import Foundation
@_spi(LoadingKitPlugins) import LoadingKitForms
import LoadingKitPrimitives

/// Standard input as the body of a run's only load. It is read once, from its position, whatever kind of file it is.
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

    /// Keeps the stream from being read. False where that has begun: its bytes are gone.
    func withdraw() -> Bool {
        state.withLock { state in
            if state == .unread { state = .withdrawn }
            return state == .withdrawn
        }
    }

    private func begin() throws {
        let mayRead = state.withLock { state in
            if state == .unread { state = .read }
            return state == .read
        }
        if !mayRead { throw ReadError(code: ECANCELED) }
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            switch errno {
            case EAGAIN: waitUntilReadable()
            case EINTR: break
            case let code: throw ReadError(code: code)
            }
        }
    }

    /// The process that started this process may have made the descriptor non-blocking.
    private func waitUntilReadable() {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&entry, 1, -1)
    }

    private struct ReadError: Error, CustomStringConvertible {
        let code: Int32

        var description: String { "standard input cannot be read: \(String(cString: strerror(code)))" }
    }
}
