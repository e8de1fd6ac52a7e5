import Foundation

/// The processor time of the calling thread, which other tests that run at the same time do not take part in.
package enum ThreadTime {
    /// Microseconds.
    package static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }

    /// The microseconds that a piece of work takes.
    package static func of(_ body: () throws -> Void) rethrows -> Double {
        let start = now
        try body()
        return now - start
    }
}
