import Foundation

/// A request that no stub matches. The load fails with this error.
public struct UnexpectedRequestError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// Method and URL.
    public let request: String
    /// The request, the nearest stub, and how they differ.
    public let description: String

    /// As ``description``.
    public var errorDescription: String? { description }
}

/// What ``StubSet/verify()`` found: stubs that were not used, and requests that none of them matched.
public struct StubVerificationError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// The stubs that were not used as often as their answers say.
    public let unused: [UnusedStub]
    /// The requests that no stub matched, with how they differ from the nearest.
    public let unexpected: [UnexpectedRequestError]

    /// All of them, in lines.
    public var description: String {
        var lines: [String] = []
        if !unused.isEmpty {
            lines.append(unused.count == 1 ? "1 stub was not used:" : "\(unused.count) stubs were not used:")
            lines += unused.map { "  \($0)" }
        }
        if !unexpected.isEmpty {
            lines.append(
                unexpected.count == 1
                    ? "1 request was unexpected:" : "\(unexpected.count) requests were unexpected:")
            lines += unexpected.flatMap { $0.description.split(separator: "\n").map { "  \($0)" } }
        }
        return lines.joined(separator: "\n")
    }

    /// As ``description``.
    public var errorDescription: String? { description }
}

/// A stub that cannot answer, such as one whose file is not there.
public struct StubAnswerError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// What is wrong.
    public let description: String

    /// As ``description``.
    public var errorDescription: String? { description }
}

/// A request as it differs from what is nearest to it.
struct NearestMatch {
    var name: String
    var mismatches: [RequestMismatch]
    /// What else is to be said of it, such as that all its answers were used.
    var remark: String?

    /// The text of an error about a request that nothing matched.
    ///
    /// - Parameters:
    ///   - kind: what the candidates are: `stub`.
    ///   - candidates: all of them; the one that differs least is told of.
    static func text(_ request: ReceivedRequest, kind: String, _ candidates: [NearestMatch]) -> String {
        let head = "Unexpected request: \(request.method) \(request.url.absoluteString)"
        guard let nearest = candidates.enumerated().min(by: { $0.element.rank($0.offset) < $1.element.rank($1.offset) })
        else { return "\(head)\n  There is no \(kind)." }
        var lines = [head, "  Nearest \(kind): \(nearest.element.name)"]
        if let remark = nearest.element.remark { lines.append("  \(remark)") }
        for mismatch in nearest.element.mismatches {
            lines += mismatch.description.split(separator: "\n").map { "  \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    /// The same place with other content is nearer than another place. Of those as near, more that is the same comes
    /// first, and then what was added first.
    private func rank(_ position: Int) -> (Int, Int, Int) {
        let common = mismatches.map { zip($0.expected, $0.actual ?? "").prefix { $0 == $1 }.count }.reduce(0, +)
        // However many differences a body has, it is one body.
        let subjects = Set(mismatches.map { $0.subject.hasPrefix("body") ? "body" : $0.subject })
        return (subjects.map(Self.weight).reduce(0, +), -common, position)
    }

    private static func weight(of subject: String) -> Int {
        switch subject {
        case "URL", "host", "path": 8
        case "method": 4
        default: 1
        }
    }
}
