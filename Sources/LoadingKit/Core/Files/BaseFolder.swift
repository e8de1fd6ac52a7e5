import Foundation

/// A base folder of the XDG Base Directory Specification. The raw value is its variable.
package enum BaseFolder: String {
    case data = "XDG_DATA_HOME"
    case cache = "XDG_CACHE_HOME"
    case state = "XDG_STATE_HOME"
    case configuration = "XDG_CONFIG_HOME"

    /// The folder that the variable names, if its value is an absolute path, else the usual one.
    package func url(_ environment: [String: String]) -> URL {
        if let named = environment[rawValue], named.hasPrefix("/") {
            return URL(fileURLWithPath: named, isDirectory: true)
        }
        return URL(fileURLWithPath: HomeFolder.path(environment), isDirectory: true)
            .appendingPathComponent(usualName, isDirectory: true)
    }

    /// The path in the user's home folder.
    private var usualName: String {
        switch self {
        case .data: ".local/share"
        case .cache: ".cache"
        case .state: ".local/state"
        case .configuration: ".config"
        }
    }
}
