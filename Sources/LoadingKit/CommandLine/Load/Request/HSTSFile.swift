import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// The file of `--hsts`, in curl's form: hosts that must be reached by `https`, and the end of each one's policy.
final class HSTSFile: HSTSPersistence {
    private let path: String
    /// Nil until the file is read: an earlier request of the same run may write it.
    private let policies = Guarded<[String: HSTSPolicy]?>(nil)

    init(_ path: String) { self.path = path }

    /// Reads the file with the first call.
    func load() -> [String: HSTSPolicy] {
        policies.withLock { policies in
            let loaded = policies ?? Self.read(path)
            policies = loaded
            return loaded
        }
    }

    func save(_ change: HSTSChange) {
        policies.withLock { policies in
            var changed = policies ?? Self.read(path)
            switch change {
            case .keep(let policy, let host): changed[host] = policy
            case .forget(let host): changed[host] = nil
            case .forgetAll: changed = [:]
            }
            policies = changed
        }
    }

    /// A missing file has no hosts.
    private static func read(_ path: String) -> [String: HSTSPolicy] {
        let text = (try? InputFile.content(of: path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return Dictionary(text.lines.compactMap(entry)) { $1 }
    }

    func flush(_ completion: @escaping @Sendable () -> Void) { completion() }

    /// The content of the file. An empty path is a store in memory.
    func write() throws(ToolFailure) {
        guard !path.isEmpty else { return }
        let lines = load().sorted { $0.key < $1.key }.map { host, policy in
            "\(policy.includesSubdomains ? "." : "")\(host) \"\(Self.formatter.string(from: policy.end))\"\n"
        }
        let file = OutputFile(path)
        try file.write(Data(("# HSTS cache in curl's form\n" + lines.joined()).utf8))
        try file.finish()
    }

    private static func entry(_ line: Substring) -> (String, HSTSPolicy)? {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, !line.hasPrefix("#") else { return nil }
        let time = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "\" "))
        guard let end = time == "unlimited" ? .distantFuture : formatter.date(from: time) else { return nil }
        return (
            RuleDomain.canonical(String(parts[0].drop { $0 == "." })),
            HSTSPolicy(end: end, includesSubdomains: parts[0].hasPrefix("."))
        )
    }

    private static var formatter: DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyyMMdd HH:mm:ss"
        return formatter
    }
}
