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
    case ways([ProxyChoice])
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
                answer.map { "\($0), without a word about the settings, as of a version that is not known" }
                    ?? output.problem)
        }
        // libproxy does not read the settings in this case.
        if opening.hasSuffix("online=0") {
            throw SystemProxyError.unusableAnswer("it takes the network for unavailable, and says nothing of proxies")
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
                throw SystemProxyError.unusableAnswer(words.isEmpty ? output.problem : words.joined(separator: " "))
            }
            self = .ways(choices)
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
