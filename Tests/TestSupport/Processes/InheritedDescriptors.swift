import Foundation
import Glibc

/// Copies of the descriptors that this process has of a file. A process that another thread starts at this moment has such copies,
/// until its program runs.
package final class InheritedDescriptors {
    private let copies: [Int32]

    package var count: Int { copies.count }

    package init(of path: String) throws {
        let (files, folder) = (FileManager.default, "/proc/self/fd")
        let originals = try files.contentsOfDirectory(atPath: folder).compactMap(Int32.init).filter {
            (try? files.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
        }
        copies = originals.map { fcntl($0, F_DUPFD_CLOEXEC, 0) }
    }

    deinit { for copy in copies { close(copy) } }
}
