import Foundation

/// The limit of this process's open file descriptors.
package enum DescriptorCount {
    /// Raises the limit as far as the system permits, for tests with a thousand connections, and returns it.
    @discardableResult
    package static func raiseLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }
}
