import Foundation

/// The result of a handler's checks.
public struct ConformanceReport: Sendable, CustomStringConvertible {
    /// A rule that the handler breaks.
    public struct Finding: Sendable, CustomStringConvertible {
        /// The number of the rule in *The contract of handlers*.
        public let rule: Int
        /// The tested operation, such as `cancelled when the response came`; the first of them where several found the
        /// same.
        public let check: String
        /// The loaded URL; nil where a class was checked.
        public let url: URL?
        /// The observation, and the advice.
        public let details: String
        /// How often this was found, in all operations.
        public internal(set) var count = 1

        /// The finding, on two lines.
        public var description: String {
            let times = count == 1 ? "" : " (found \(count) times)"
            return "rule \(rule) (\(ContractRule.sentence(rule)))\n"
                + "    \(check)\(url.map { ", \($0)" } ?? ""): \(details)\(times)"
        }
    }

    /// The findings; empty for a handler that follows the contract. Equal observations with the same URL are one
    /// finding.
    public private(set) var findings: [Finding] = []
    /// The names of the performed checks, in order, without repetitions.
    public private(set) var checks: [String] = []

    /// All findings; or the number of checks that succeeded.
    public var description: String {
        findings.isEmpty
            ? "\(checks.count) checks passed"
            : findings.map(\.description).joined(separator: "\n")
    }

    mutating func note(check: String) { if !checks.contains(check) { checks.append(check) } }

    mutating func add(_ finding: Finding) {
        let known = findings.firstIndex {
            $0.rule == finding.rule && $0.details == finding.details && $0.url == finding.url
        }
        if let known { findings[known].count += 1 } else { findings.append(finding) }
    }
}

/// The sentences of the contract that checks refer to.
enum ContractRule {
    private static let sentences: [Int: String] = [
        1: "canInit(with:) and canonicalRequest(for:) are functions of the request.",
        2: "A handler is made for one load.",
        3: "startLoading() may block, load(_:) must not.",
        4: "stopLoading() is called exactly once.",
        5: "A cancelled load ends promptly.",
        6: "After its end nothing holds the handler.",
        7: "Loads are independent.",
        8: "A response comes before the body's first bytes.",
        9: "The response is true.",
        10: "A load ends once.",
        11: "Events may come from any thread, one after the other.",
        12: "Errors reach the program as they are.",
        13: "A reader is not given more than it takes.",
        14: "A suspended task gets nothing.",
        15: "A redirect ends the load.",
        16: "A challenge is answered exactly once.",
        17: "The body is in LoadContext.body, whatever the program gave.",
        18: "Progress is reported.",
        19: "Metrics are reported.",
        20: "A response is stored where the handler says so.",
        21: "A download is resumed by HTTP's fields.",
        22: "A WebSocket task of another scheme than ws and wss is refused.",
        23: "A secret goes to its own origin.",
    ]

    /// The advice for events that LoadingKit reports as breaches.
    private static let advice: [Int: String] = [
        8: "give a response before the first bytes",
        10: "give nothing after the end, and wait in load(_:) for the tasks that it starts",
        13: "await each call of receive(_:) before the next one",
    ]

    static func sentence(_ rule: Int) -> String { sentences[rule] ?? "" }

    static func advice(_ rule: Int) -> String { advice[rule].map { ": \($0)" } ?? "" }
}
