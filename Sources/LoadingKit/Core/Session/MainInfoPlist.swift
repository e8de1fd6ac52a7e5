import Foundation
import Glibc

/// The running program's Info.plist, which most programs on Linux do not have.
package enum MainInfoPlist {
    /// The file's values; none without a file.
    package static func read() -> [String: Any] { isPresent ? Bundle.main.infoDictionary ?? [:] : [:] }

    /// Whether there is a file where Foundation looks for it, from the executable, which may be in the bundle's
    /// `Contents/Linux`. To ask `Bundle` takes a millisecond of a program's start.
    private static var isPresent: Bool {
        guard let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            return true
        }
        let folder = executable[..<(executable.lastIndex(of: "/") ?? executable.startIndex)]
        return ["", "/Contents", "/Resources", "/Support Files", "/.."].contains { place in
            access("\(folder)\(place)/Info.plist", F_OK) == 0
        }
    }
}
