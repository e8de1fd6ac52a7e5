import Foundation

/// A copy of this process, which must not have other threads, that writes numbers to a pipe until it is killed.
struct KilledWriter {
    private let identifier: pid_t
    private let pipe: Int32

    init(_ body: (Int32) -> Never) throws {
        var ends: [Int32] = [0, 0]
        // Swift hides the call, as most programs have threads.
        guard Glibc.pipe(&ends) == 0, let symbol = dlsym(nil, "fork") else { throw POSIXError(.ENOSYS) }
        let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
        identifier = fork()
        if identifier < 0 { throw POSIXError(.EAGAIN) }
        if identifier == 0 {
            close(ends[0])
            body(ends[1])
        }
        close(ends[1])
        pipe = ends[0]
    }

    /// Gives the last number that was written.
    func killed(afterLines count: Int, andMicroseconds delay: UInt32) -> Int {
        var said: [UInt8] = []
        while said.count(where: { $0 == UInt8(ascii: "\n") }) < count, read(into: &said) {}
        usleep(delay)
        kill(identifier, SIGKILL)
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        while read(into: &said) {}
        close(pipe)
        return String(decoding: said, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }.max() ?? -1
    }

    /// False at the end.
    private func read(into said: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(pipe, &buffer, buffer.count)
        guard count > 0 else { return false }
        said += buffer[..<count]
        return true
    }
}
