import Foundation

/// This program once more, which stores from a step on and writes the number of each step that is safe to its standard
/// output, until it is killed.
struct KilledWriter {
    private let identifier: pid_t
    private let pipe: Int32

    init(_ kind: StoreKind, _ path: String, from first: Int) throws {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        pipe = ends[0]
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // What is written to this one's input is not for it.
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        for end in ends { posix_spawn_file_actions_addclose(&actions, end) }
        let arguments = ["StoreWriter", kind.rawValue, path, "\(first)"]
        let environment = ProcessInfo.processInfo.environment
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var settings: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + settings { free(word) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, "/proc/self/exe", &actions, nil, &words, &settings)
        guard code == 0 else {
            close(ends[0])
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EAGAIN)
        }
        self.identifier = identifier
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
