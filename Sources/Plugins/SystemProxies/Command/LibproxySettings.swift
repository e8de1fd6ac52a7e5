import Foundation
import LoadingKit

/// What the system's settings say of a server, as libproxy's command tells it.
///
/// libproxy loads and runs scripts itself, and says `direct://` where it cannot. So a script is not left to it: it says in its
/// debugging output what the settings are before it looks for a script, and a version that does not is not believed.
///
/// ```
/// 0.4, with _PX_DEBUG:                  0.5, with PX_DEBUG:
///   stderr  Config is:                    stdout  (proxy:7): pxbackend-DEBUG: … px_manager_get_proxies_sync: url=… online=1
///   stderr  ⇥http://proxy:3128            stdout  (proxy:7): pxbackend-DEBUG: … px_manager_get_proxies_sync: Config[0] = http://proxy:3128
///   stdout  http://proxy:3128             stdout  http://proxy:3128
/// ```
enum LibproxySettings: Equatable {
    case ways([ProxyChoice])
    /// A script is to find the proxies.
    case script(URL)
    /// The script that the network offers is (WPAD).
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
        // It does not look at the settings then.
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

    /// Whether nothing more needs to be known after a line: it is the answer, or names a script.
    static func isEnough(_ line: CommandProcess.Line) -> Bool {
        switch line {
        case .output(let text): isAnswer(text[...]) || isScript(text[...])
        case .error(let text): isScript(text[...])
        }
    }

    private static func isScript(_ line: Substring) -> Bool {
        entry(line).map { $0.hasPrefix("wpad:") || $0.hasPrefix("pac+") } ?? false
    }

    /// A line that is none of the debugging output, which 0.5 has there, too.
    private static func isAnswer(_ line: Substring) -> Bool { !line.contains("-DEBUG:") && line.contains("://") }

    /// What a line says of the settings; nil where it says something else.
    private static func entry(_ line: Substring) -> Substring? {
        if line.hasPrefix("\t") { return line.dropFirst() }
        guard let place = line.range(of: version5 + "Config["), let start = line[place.upperBound...].range(of: "] = ")
        else { return nil }
        return line[start.upperBound...]
    }
}
