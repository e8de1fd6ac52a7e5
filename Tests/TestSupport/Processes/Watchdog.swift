import Foundation
import LoadingKitPrimitives

/// Ends a group of processes and removes their folder when this process dies without doing so, even by SIGKILL: a small
/// shell waits at the other end of a pipe that only this process holds open.
final class Watchdog: Sendable {
    private let pipe: Guarded<Int32?>
    private let shell: ChildProcess

    init(over process: ChildProcess, folder: String) throws {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw CocoaError(.fileWriteUnknown) }
        let (input, output) = (ends[0], ends[1])
        defer { close(input) }
        _ = fcntl(input, F_SETFD, FD_CLOEXEC)
        _ = fcntl(output, F_SETFD, FD_CLOEXEC)
        do {
            let script = #"read -r line; kill -KILL "-$1"; rm -rf -- "$2""#
            shell = try ChildProcess(
                "/bin/sh", ["-c", script, "watchdog", String(process.identifier), folder],
                streams: .init(input: input))
        } catch {
            close(output)
            throw error
        }
        pipe = Guarded(output)
    }

    deinit { dismiss() }

    /// Ends the processes and removes the folder, as after this process's death, and waits for it.
    func bark() {
        if let output = takePipe() { close(output) }
        shell.waitForExit()
    }

    /// Ends the shell without any effect: the processes have been stopped.
    func dismiss() {
        guard let output = takePipe() else { return }
        shell.stop(after: 5)
        close(output)
    }

    private func takePipe() -> Int32? {
        pipe.withLock { pipe in
            defer { pipe = nil }
            return pipe
        }
    }
}
