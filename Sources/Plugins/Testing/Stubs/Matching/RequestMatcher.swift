import Foundation
import LoadingKit

/// A stub's condition on requests. A stub has several, and all of them must be met.
public struct RequestMatcher: Sendable {
    /// The result of the matcher.
    struct Result {
        /// Empty where the request matches.
        var mismatches: [RequestMismatch] = []
        var parameters: [String: String] = [:]
    }

    /// A single condition of the matcher.
    struct Check: Sendable {
        let description: String
        let run: @Sendable (ReceivedRequest) -> Result

        init(_ description: String, _ run: @escaping @Sendable (ReceivedRequest) -> Result) {
            self.description = description
            self.run = run
        }

        /// A condition that returns the difference, or nil.
        static func differing(
            _ description: String, _ run: @escaping @Sendable (ReceivedRequest) -> RequestMismatch?
        ) -> Check {
            Check(description) { request in Result(mismatches: run(request).map { [$0] } ?? []) }
        }
    }

    let checks: [Check]

    private init(checks: [Check]) { self.checks = checks }

    init(_ checks: Check...) { self.checks = checks }

    init(all matchers: RequestMatcher...) { checks = matchers.flatMap(\.checks) }

    /// The matcher's conditions, for display.
    public var description: String { checks.map(\.description).joined(separator: ", ") }

    /// The differences between the request and the matcher's conditions; empty where it matches.
    public func mismatches(_ request: ReceivedRequest) -> [RequestMismatch] {
        checks.flatMap { $0.run(request).mismatches }
    }

    // MARK: Anything

    /// Every request.
    public static var anything: RequestMatcher { RequestMatcher(checks: []) }

    /// A condition that a closure decides.
    ///
    /// - Parameter description: the closure's condition, for the difference of a request that does not match.
    public static func `where`(
        _ description: String, _ isMatch: @escaping @Sendable (ReceivedRequest) -> Bool
    ) -> RequestMatcher {
        RequestMatcher(
            .differing(description) {
                isMatch($0) ? nil : RequestMismatch("condition", expected: description, actual: "false")
            })
    }

    // MARK: Methods

    /// One of these methods. They are compared exactly: methods are case-sensitive (RFC 9110 §9.1).
    public static func method(_ methods: String...) -> RequestMatcher {
        let text = methods.joined(separator: " or ")
        return RequestMatcher(
            .differing(text) { request in
                methods.contains(request.method)
                    ? nil : RequestMismatch("method", expected: text, actual: request.method)
            })
    }

    /// `GET`, and a pattern for the URL: see `url(_:)`.
    public static func get(_ pattern: String) -> RequestMatcher { RequestMatcher(all: .method("GET"), .url(pattern)) }

    /// `HEAD`, and a pattern for the URL: see `url(_:)`.
    public static func head(_ pattern: String) -> RequestMatcher { RequestMatcher(all: .method("HEAD"), .url(pattern)) }

    /// `POST`, and a pattern for the URL: see `url(_:)`.
    public static func post(_ pattern: String) -> RequestMatcher { RequestMatcher(all: .method("POST"), .url(pattern)) }

    /// `PUT`, and a pattern for the URL: see `url(_:)`.
    public static func put(_ pattern: String) -> RequestMatcher { RequestMatcher(all: .method("PUT"), .url(pattern)) }

    /// `PATCH`, and a pattern for the URL: see `url(_:)`.
    public static func patch(_ pattern: String) -> RequestMatcher {
        RequestMatcher(all: .method("PATCH"), .url(pattern))
    }

    /// `DELETE`, and a pattern for the URL: see `url(_:)`.
    public static func delete(_ pattern: String) -> RequestMatcher {
        RequestMatcher(all: .method("DELETE"), .url(pattern))
    }
}
