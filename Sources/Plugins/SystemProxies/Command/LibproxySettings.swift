import Foundation
import LoadingKit

/// The system's settings for a server, as reported by libproxy's command.
///
/// libproxy loads and runs scripts itself, and returns `direct://` where it cannot. A script is therefore not left to
/// libproxy: its debugging output contains the settings before it searches for a script. The result of a version
/// without this output is not used.
///
/// ```
/// 0.4, with _PX_DEBUG:
///   stderr  Config is:
///   stderr  ⇥http://proxy:3128
///   stdout  http://proxy:3128
/// 0.5, with PX_DEBUG:
///   stdout  (proxy:7): pxbackend-DEBUG: … px_manager_get_proxies_sync: url=… online=1
///   stdout  (proxy:7): pxbackend-DEBUG: … px_manager_get_proxies_sync: Config[0] = http://proxy:3128
///   stdout  http://proxy:3128
/// ```
enum LibproxySettings: Equatable {
    case routes([ProxyChoice])
    /// A script determines the proxies.
    case script(URL)
    /// The script that the network offers (WPAD) determines the proxies.
    case autoDiscovery

    init(_ output: CommandOutput) throws {
        let lines = (output.errors + "\n" + output.text).split(whereSeparator: \.isNewline)
        let answer = output.text.split(whereSeparator: \.isNewline).last { Self.isAnswer($0) }
        guard let opening = lines.first(where: { $0.hasPrefix("Config is:") || $0.contains(Self.version5 + "url=") })
        else {
            throw SystemProxyError.unusableAnswer(
                answer.map { "\($0), without the settings: the version is not known" } ?? output.problem)
        }
        // libproxy does not read the settings in this case.
        if opening.hasSuffix("online=0") {
            throw SystemProxyError.unusableAnswer("it considers the network unavailable, and did not read the settings")
        }
        let entries = lines.compactMap(Self.entry)
        if entries.contains(where: { $0.hasPrefix("wpad:") }) {
            self = .autoDiscovery
        } else if let script = entries.first(where: { $0.hasPrefix("pac+") }) {
            guard let url = URL(string: String(script.dropFirst(4))), url.scheme != nil else {
                throw SystemProxyError.scriptNotLoaded(String(script.dropFirst(4)))
            }
            self = .script(url)
        } else {
            let words = answer?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
            let choices = words.compactMap { $0.hasPrefix("direct:") ? .direct : ProxyChoice($0) }
            guard !choices.isEmpty else {
                throw SystemProxyError.unusableAnswer(
                    words.isEmpty ? output.problem : words.joined(separator: " "))
            }
            self = .routes(choices)
        }
    }

    private static let version5 = "px_manager_get_proxies_sync: "

    /// Whether no further lines are needed: the line is the result, or names a script.
    static func isEnough(_ line: CommandProcess.Line) -> Bool {
        switch line {
        case .output(let text): isAnswer(text[...]) || isScript(text[...])
        case .error(let text): isScript(text[...])
        }
    }

    private static func isScript(_ line: Substring) -> Bool {
        entry(line).map { $0.hasPrefix("wpad:") || $0.hasPrefix("pac+") } ?? false
    }

    /// A line that is not debugging output, which version 0.5 writes to the same stream.
    private static func isAnswer(_ line: Substring) -> Bool { !line.contains("-DEBUG:") && line.contains("://") }

    /// The setting in a line; nil where the line has none.
    private static func entry(_ line: Substring) -> Substring? {
        if line.hasPrefix("\t") { return line.dropFirst() }
        guard let place = line.range(of: version5 + "Config["), let start = line[place.upperBound...].range(of: "] = ")
        else { return nil }
        return line[start.upperBound...]
    }
}

/// The environment variables for libproxy's command.
enum LibproxyEnvironment {
    /// Variables for the desktop's settings, and the environment's proxies.
    static func forSettings(_ environment: [String: String]) -> [String: String] {
        var environment = environment
        // A web server passes a request's `Proxy` field to its programs as `HTTP_PROXY`. The request must not choose
        // the proxy.
        if environment["REQUEST_METHOD"] != nil { environment["HTTP_PROXY"] = nil }
        // libproxy then logs its steps on standard error.
        environment["_PX_DEBUG"] = "1"
        // Since libproxy 0.5, on standard output.
        environment["PX_DEBUG"] = "1"
        return environment
    }

    /// Variables for a script on standard input: without any of this process's variables that libproxy could interpret
    /// as settings.
    static func forScript(_ environment: [String: String]) -> [String: String] {
        var few = environment.filter { ["PATH", "LD_LIBRARY_PATH", "PX_MODULE_PATH", "TZ"].contains($0.key) }
        few["http_proxy"] = "pac+file:///dev/stdin"
        few["_PX_DEBUG"] = "1"
        // Since libproxy 0.5.
        few["PX_FORCE_CONFIG"] = "config-env"
        return few
    }
}
