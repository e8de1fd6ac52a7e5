import Foundation
import LoadingKit

/// A condition of a stub on requests. A stub has several, and all of them must hold.
public struct RequestMatcher: Sendable {
    /// What the matcher found.
    struct Result {
        /// Empty where the request matches.
        var mismatches: [RequestMismatch] = []
        var parameters: [String: String] = [:]
    }

    /// A part of the matcher that holds or does not.
    struct Check: Sendable {
        let description: String
        let run: @Sendable (ReceivedRequest) -> Result

        init(_ description: String, _ run: @escaping @Sendable (ReceivedRequest) -> Result) {
            self.description = description
            self.run = run
        }

        /// One that gives what differs, or nil.
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

    /// What the matcher asks for, for display.
    public var description: String { checks.map(\.description).joined(separator: ", ") }

    /// How the request differs from what the matcher asks for; empty where it matches.
    public func mismatches(_ request: ReceivedRequest) -> [RequestMismatch] {
        checks.flatMap { $0.run(request).mismatches }
    }

    // MARK: Anything

    /// Every request.
    public static var anything: RequestMatcher { RequestMatcher(checks: []) }

    /// What a closure says.
    ///
    /// - Parameter description: what the closure looks for; it is in the difference of a request that does not match.
    public static func `where`(
        _ description: String, _ isMatch: @escaping @Sendable (ReceivedRequest) -> Bool
    ) -> RequestMatcher {
        RequestMatcher(
            .differing(description) {
                isMatch($0) ? nil : RequestMismatch("condition", expected: description, actual: "false")
            })
    }

    // MARK: Methods

    /// One of these methods. They are compared as they are: methods are case-sensitive (RFC 9110 §9.1).
    public static func method(_ methods: String...) -> RequestMatcher {
        let text = methods.joined(separator: " or ")
        return RequestMatcher(
            .differing(text) { request in
                methods.contains(request.method)
                    ? nil : RequestMismatch("method", expected: text, actual: request.method)
            })
    }

    /// `GET`, and a pattern for the URL: see ``url(_:)``.
    public static func get(_ pattern: String) -> RequestMatcher { RequestMatcher(all: .method("GET"), .url(pattern)) }

    /// `HEAD`, and a pattern for the URL: see ``url(_:)``.
    public static func head(_ pattern: String) -> RequestMatcher { RequestMatcher(all: .method("HEAD"), .url(pattern)) }

    /// `POST`, and a pattern for the URL: see ``url(_:)``.
    public static func post(_ pattern: String) -> RequestMatcher { RequestMatcher(all: .method("POST"), .url(pattern)) }

    /// `PUT`, and a pattern for the URL: see ``url(_:)``.
    public static func put(_ pattern: String) -> RequestMatcher { RequestMatcher(all: .method("PUT"), .url(pattern)) }

    /// `PATCH`, and a pattern for the URL: see ``url(_:)``.
    public static func patch(_ pattern: String) -> RequestMatcher {
        RequestMatcher(all: .method("PATCH"), .url(pattern))
    }

    /// `DELETE`, and a pattern for the URL: see ``url(_:)``.
    public static func delete(_ pattern: String) -> RequestMatcher {
        RequestMatcher(all: .method("DELETE"), .url(pattern))
    }
}
