import Foundation

/// The reason why the system's proxies are unknown. The loads that need them fail: they do not connect to the server
/// directly.
///
/// In the texts of libproxy and of scripts, `(redacted)` stands for users and passwords of addresses.
public enum SystemProxyError: Error, Hashable, Sendable {
    /// libproxy's command does not exist at any of these paths.
    case commandNotFound([String])
    /// The command could not be started, with this `errno`.
    case notStarted(errno: Int32)
    /// The command did not end within its time limit, in seconds, and was ended: a script runs endlessly, or a server
    /// in the script or the settings does not respond.
    case timedOut(seconds: Double)
    /// The command ended without a usable result; its output.
    case unusableAnswer(String)
    /// libproxy has no module that runs scripts.
    case noScriptRunner
    /// The script's server answered with this status.
    case scriptStatus(Int, url: String)
    /// The script is longer than ``SystemProxies/Options/maximumScriptSize``, in bytes.
    case scriptTooLong(maximum: Int)
    /// The script does not exist, or cannot be read: its URL.
    case scriptNotLoaded(String)
    /// The script failed, with JavaScript's text; or it is not valid JavaScript.
    case scriptFailed(String)
    /// The script's result, which contains no usable route.
    case unusableChoices(String)
}

extension SystemProxyError: LocalizedError, CustomStringConvertible {
    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// The error, and its remedy.
    public var description: String {
        switch self {
        case .commandNotFound(let paths):
            "libproxy's command does not exist (\(paths.joined(separator: ", "))); install it with: sudo apt-get install -y "
                + "libproxy-tools libproxy1-plugin-webkit"
        case .notStarted(let code): "libproxy's command could not be started: \(String(cString: strerror(code)))"
        case .timedOut(let seconds):
            "libproxy did not answer in \(seconds) seconds and was ended: the script runs endlessly, or waits for a server"
        case .unusableAnswer(let text):
            "libproxy returned no usable answer\(text.isEmpty ? "" : " (\(text.prefix(500)))")"
        case .noScriptRunner:
            "libproxy cannot run scripts; install what it needs with: sudo apt-get install -y libproxy1-plugin-webkit"
        case .scriptStatus(let status, let url): "the proxy script \(url) was answered with \(status)"
        case .scriptTooLong(let maximum): "the proxy script has more than \(maximum) bytes"
        case .scriptNotLoaded(let url): "the proxy script \(url) could not be loaded"
        case .scriptFailed(let text): "the proxy script failed (\(text.prefix(500)))"
        case .unusableChoices(let text): "the proxy script returned no usable route (\(text.prefix(500)))"
        }
    }
}
