import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// The file of `--hsts`, in curl's form: hosts that must be reached by `https`, and the end of each one's policy.
final class HSTSFile: HSTSPersistence {
    private struct Contents {
        var policies: [String: HSTSPolicy] = [:]
        /// Whether the file lacks these policies, or is missing.
        var isChanged = false
        /// Why a file that is there could not be read.
        var failure: ToolFailure?
    }

    private let path: String
    /// Nil until the file is read: an earlier request of the same run may write it.
    private let contents = Guarded<Contents?>(nil)

    init(_ path: String) { self.path = path }

    /// Reads the file with the first call.
    func load() -> [String: HSTSPolicy] { current().policies }

    private func current() -> Contents {
        contents.withLock { contents in
            let current = contents ?? Self.read(path)
            contents = current
            return current
        }
    }

    func save(_ change: HSTSChange) {
        contents.withLock { contents in
            var changed = contents ?? Self.read(path)
            let before = changed.policies
            switch change {
            case .keep(let policy, let host): changed.policies[host] = policy
            case .forget(let host): changed.policies[host] = nil
            case .forgetAll: changed.policies = [:]
            }
            if changed.policies != before { changed.isChanged = true }
            contents = changed
        }
    }

    /// A missing file has no hosts.
    private static func read(_ path: String) -> Contents {
        do {
            let text = String(decoding: try InputFile.content(of: path), as: UTF8.self)
            return Contents(policies: Dictionary(text.lines.compactMap(entry)) { $1 })
        } catch let error as StandardInput.ReadError where error.code == ENOENT {
            return Contents(isChanged: true)
        } catch {
            return Contents(failure: ToolFailure(.readError, error.localizedDescription))
        }
    }

    func flush(_ completion: @escaping @Sendable () -> Void) { completion() }

    /// Writes the file where something has changed. What could not be read is not replaced. An empty path is a store in
    /// memory.
    func write() throws(ToolFailure) {
        guard !path.isEmpty else { return }
        let contents = current()
        if let failure = contents.failure { throw failure }
        guard contents.isChanged else { return }
        let lines = contents.policies.sorted { $0.key < $1.key }.map { host, policy in
            "\(policy.includesSubdomains ? "." : "")\(host) \"\(Self.formatter.string(from: policy.end))\"\n"
        }
        try ReplacedFile.write(Data(("# HSTS cache in curl's form\n" + lines.joined()).utf8), to: path)
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
