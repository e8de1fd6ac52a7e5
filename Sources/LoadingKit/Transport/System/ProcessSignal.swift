import CLoadingKitShims
import Glibc

/// A signal that the process reports to a thread. The signal's handler only writes to a descriptor.
package enum ProcessSignal {
    private static let numbers = ["SIGUSR1": SIGUSR1, "SIGUSR2": SIGUSR2, "SIGHUP": SIGHUP, "SIGQUIT": SIGQUIT]

    /// The number of a signal that may be followed; nil for other names.
    package static func number(named name: String) -> Int32? { numbers[name] }

    /// Calls `work`, on a thread of its own, after the signal has come, until the process ends. Signals that come while it
    /// works are one. Called once in a process. Returns false where the system lacks a descriptor or a thread.
    package static func follow(_ number: Int32, _ work: @escaping @Sendable () -> Void) -> Bool {
        let descriptor = Int32(truncatingIfNeeded: SystemCalls.eventfd(isBlocking: true))
        guard descriptor >= 0 else { return false }
        let thread = NativeThread.start(name: "LoadingKit-sig") {
            var count: UInt64 = 0
            while withUnsafeMutableBytes(of: &count, { SystemCalls.read(descriptor, $0) }) > 0 { work() }
        }
        guard case .success(let thread) = thread, lk_write_on_signal(number, descriptor) == 0 else { return false }
        thread.detach()
        return true
    }
}
