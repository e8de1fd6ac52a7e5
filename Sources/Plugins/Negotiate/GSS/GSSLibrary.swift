import Foundation
import Synchronization

/// The process's library of GSS-API. At the exit of the process the Kerberos library destroys its locks, and ends the process with
/// SIGABRT if a thread calls it afterwards. So it is not called any more then.
enum GSSLibrary {
    private struct State {
        var isExiting = false
        /// The number of calls that are under way.
        var calls = 0
    }

    private static let state = Mutex(State())
    /// How long the exit waits for calls that are under way, which may wait for a server: in milliseconds.
    private static let longestWait = 1000
    private static let watchesExit: Void = { _ = atexit { GSSLibrary.processWillExit() } }()

    /// Runs code that calls the library. Throws if the process is exiting.
    static func use<Value>(_ body: () throws(GSSError) -> Value) throws(GSSError) -> Value {
        _ = watchesExit
        let mayCall = state.withLock { state in
            if !state.isExiting { state.calls += 1 }
            return !state.isExiting
        }
        guard mayCall else { throw GSSError("the process is exiting") }
        defer { state.withLock { $0.calls -= 1 } }
        return try body()
    }

    private static func processWillExit() {
        state.withLock { $0.isExiting = true }
        var waited = 0
        while waited < longestWait, state.withLock({ $0.calls > 0 }) {
            usleep(1000)
            waited += 1
        }
    }
}
