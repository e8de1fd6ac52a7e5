import Foundation
@_spi(LoadingKitPlugins) import LoadingKitForms
import LoadingKitPrimitives

/// Standard input, or a file without a size, as the body of one load. It is read once. Standard input is read from its
/// current position, whatever kind of file it is.
final class StandardInput: Sendable {
    private enum State {
        case unread, read, withdrawn
    }

    private let descriptor: Int32
    private let path: String?
    private let state = Guarded(State.unread)

    /// - Parameter path: of a pipe or a device, which is read in place of the descriptor.
    init(_ descriptor: Int32 = STDIN_FILENO, path: String? = nil) {
        self.descriptor = descriptor
        self.path = path
    }

    func makeStream() -> InputStream {
        ReadingStream { [self] in
            try begin()
            let file = try openFile()
            return { [path] buffer in
                let count = readWaiting(file.fileDescriptor, buffer.baseAddress, buffer.count)
                if count < 0 { throw ReadError(name: path ?? "standard input", code: errno) }
                return count
            }
        }
    }

    /// A path is opened by the first read, as that of a pipe may wait for a writer.
    private func openFile() throws -> FileHandle {
        guard let path else { return FileHandle(fileDescriptor: descriptor, closeOnDealloc: false) }
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { throw ReadError(name: path, code: errno) }
        return FileHandle(fileDescriptor: opened, closeOnDealloc: true)
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

    /// All bytes up to the end.
    ///
    /// - Parameter name: what errors call the descriptor's file.
    static func readAll(_ descriptor: Int32 = STDIN_FILENO, name: String = "standard input") throws -> Data {
        var bytes = Data()
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = readWaiting(descriptor, &piece, piece.count)
            if count < 0 { throw ReadError(name: name, code: errno) }
            if count == 0 { return bytes }
            bytes.append(contentsOf: piece[..<count])
        }
    }

    struct ReadError: LocalizedError, CustomStringConvertible {
        var name = "standard input"
        let code: Int32

        var description: String { "\(name) cannot be read: \(String(cString: strerror(code)))" }

        var errorDescription: String? { description }
    }
}

/// The lines of a descriptor, which LF or CR LF ends. The last line may have no end.
struct InputLines: Sequence, IteratorProtocol {
    private let descriptor: Int32
    private var unread: ArraySlice<UInt8> = []
    private var piece = [UInt8](repeating: 0, count: 1 << 16)
    /// The error's number where the lines have ended because the descriptor cannot be read.
    private(set) var failure: Int32?

    init(_ descriptor: Int32 = STDIN_FILENO) { self.descriptor = descriptor }

    /// Nil at the end, or where the descriptor cannot be read.
    mutating func next() -> String? {
        var searched = unread.startIndex
        while true {
            if let end = unread[searched...].firstIndex(of: 0x0a) {
                let line = unread[..<end]
                unread = unread[(end + 1)...]
                return String(decoding: line.last == 0x0d ? line.dropLast() : line, as: UTF8.self)
            }
            searched = unread.endIndex
            let count = readWaiting(descriptor, &piece, piece.count)
            if count < 0 {
                failure = errno
                return nil
            }
            guard count > 0 else { break }
            unread += piece[..<count]
        }
        let last = unread
        unread = []
        return last.isEmpty ? nil : String(decoding: last, as: UTF8.self)
    }
}

/// Like `read(2)`, but waits for bytes of a descriptor that the process that started this process may have made
/// non-blocking, and continues after a signal.
func readWaiting(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
    while true {
        let count = Foundation.read(descriptor, buffer, size)
        if count >= 0 { return count }
        switch errno {
        case EAGAIN: waitUntilReady(descriptor, for: POLLIN)
        case EINTR: break
        case _: return count
        }
    }
}
