import Foundation

/// The user's home folder.
package enum HomeFolder {
    /// The value of `HOME`, if it is an absolute path, else the home folder in the system's list of users.
    package static func path(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        if let named = environment["HOME"], named.hasPrefix("/") { return named }
        return FileManager.default.homeDirectoryForCurrentUser.path
    }
}
