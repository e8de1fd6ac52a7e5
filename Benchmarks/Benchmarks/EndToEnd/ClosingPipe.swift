import Foundation

/// A pipe that programs get only where they are given it, so that it ends when its writer does.
final class ClosingPipe {
    private(set) var reading: Int32
    private(set) var writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure("no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
    }

    func closeReading() { Self.close(&reading) }

    func closeWriting() { Self.close(&writing) }

    /// All that comes until the writers have closed it.
    func read() -> String {
        let data = try? FileHandle(fileDescriptor: reading, closeOnDealloc: false).readToEnd()
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    deinit {
        closeReading()
        closeWriting()
    }

    private static func close(_ end: inout Int32) {
        if end >= 0 { Glibc.close(end) }
        end = -1
    }
}
