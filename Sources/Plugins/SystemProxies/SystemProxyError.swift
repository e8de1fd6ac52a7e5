import Foundation

/// Why the system's proxies are not known. The loads that need them fail: they do not go to the server directly.
public enum SystemProxyError: Error, Hashable, Sendable {
    /// libproxy's command is at none of these paths.
    case commandNotFound([String])
    /// The command could not be started, with this `errno`.
    case notStarted(errno: Int32)
    /// The command did not end in the time that it has, in seconds, and was ended: a script runs for ever, or a server
    /// that the script or the settings name does not answer.
    case timedOut(seconds: Double)
    /// The command ended without a usable answer; what it said.
    case unusableAnswer(String)
    /// libproxy has no module that runs scripts.
    case noScriptRunner
    /// The script's server answered with this status.
    case scriptStatus(Int, url: String)
    /// The script is longer than ``SystemProxies/Options/maximumScriptSize``, in bytes.
    case scriptTooLong(maximum: Int)
    /// The script is not there, or cannot be read: its URL.
    case scriptNotLoaded(String)
    /// The script failed, with JavaScript's text; or it cannot be read as JavaScript.
    case scriptFailed(String)
    /// The script gave this, which names no way that can be used.
    case unusableChoices(String)
}

extension SystemProxyError: LocalizedError, CustomStringConvertible {
    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// What went wrong, and what to do about it.
    public var description: String {
        switch self {
        case .commandNotFound(let paths):
            "libproxy's command is not there (\(paths.joined(separator: ", "))); install it with: sudo apt-get install -y "
                + "libproxy-tools libproxy1-plugin-webkit"
        case .notStarted(let code): "libproxy's command could not be started: \(String(cString: strerror(code)))"
        case .timedOut(let seconds):
            "libproxy did not answer in \(seconds) seconds and was ended: the script runs for ever, or waits for a server"
        case .unusableAnswer(let text): "libproxy gave no usable answer\(text.isEmpty ? "" : " (\(text.prefix(500)))")"
        case .noScriptRunner:
            "libproxy cannot run scripts; install what it needs with: sudo apt-get install -y libproxy1-plugin-webkit"
        case .scriptStatus(let status, let url): "the proxy script \(url) was answered with \(status)"
        case .scriptTooLong(let maximum): "the proxy script has more than \(maximum) bytes"
        case .scriptNotLoaded(let url): "the proxy script \(url) could not be loaded"
        case .scriptFailed(let text): "the proxy script failed (\(text.prefix(500)))"
        case .unusableChoices(let text): "the proxy script gave no way that can be used (\(text.prefix(500)))"
        }
    }
}
