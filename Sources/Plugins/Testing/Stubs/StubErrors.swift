import Foundation

/// The error for a request that no stub matches. The load fails with this error.
public struct UnexpectedRequestError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// Method and URL.
    public let request: String
    /// The request, the nearest stub, and their differences.
    public let description: String

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension UnexpectedRequestError {
    /// - Parameters: those of ``NearestMatch/text(_:kind:_:)``.
    init(_ request: ReceivedRequest, kind: String, _ candidates: [NearestMatch]) {
        self.init(request: request.name, description: NearestMatch.text(request, kind: kind, candidates))
    }
}

/// The deviations that ``StubSet/verify()`` has found: unused stubs, and requests that no stub matched.
public struct StubVerificationError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// The stubs that were used fewer times than their responses require.
    public let unused: [UnusedStub]
    /// The requests that no stub matched, with their differences from the nearest stub.
    public let unexpected: [UnexpectedRequestError]

    /// All deviations, one on each line.
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

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

/// The error of a stub that cannot answer, for example because its file does not exist.
public struct StubAnswerError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// The reason for the error.
    public let description: String

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

/// A request's differences from the nearest candidate.
struct NearestMatch {
    var name: String
    var mismatches: [RequestMismatch]
    /// A further remark, for example that all its responses were used.
    var remark: String?

    /// The text of an error about a request that nothing matched.
    ///
    /// - Parameters:
    ///   - kind: the kind of the candidates: `stub`.
    ///   - candidates: all candidates; the text describes the one with the fewest differences.
    static func text(_ request: ReceivedRequest, kind: String, _ candidates: [NearestMatch]) -> String {
        let head = "Unexpected request: \(request.name)"
        guard let nearest = candidates.enumerated().min(by: { $0.element.rank($0.offset) < $1.element.rank($1.offset) })
        else { return "\(head)\n  There is no \(kind)." }
        var lines = [head, "  Nearest \(kind): \(nearest.element.name)"]
        if let remark = nearest.element.remark { lines.append("  \(remark)") }
        for mismatch in nearest.element.mismatches {
            lines += mismatch.description.split(separator: "\n").map { "  \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    /// The same URL with other content is nearer than another URL. Among equally near candidates, the one with more
    /// equal parts comes first, then the one that was added first.
    private func rank(_ position: Int) -> (Int, Int, Int) {
        let common = mismatches.map { zip($0.expected, $0.actual ?? "").prefix { $0 == $1 }.count }.reduce(0, +)
        // A body counts once, regardless of the number of its differences.
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
