import Foundation

/// How many file descriptors this process has open.
package enum DescriptorCount {
    package static func current() throws -> Int {
        // The listing itself has one open.
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count - 1
    }

    /// Lets this process open as many as the system allows it (for tests with a thousand connections), and says how many.
    @discardableResult
    package static func raiseLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }
}
