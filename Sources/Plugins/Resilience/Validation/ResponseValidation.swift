import Foundation
@_spi(LoadingKitPlugins) import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Fails loads with an unexpected response, with ``ResponseValidationError``.
public struct ResponseValidation: ResilienceInterceptor {
    /// The accepted statuses. Default 200 to 299, and 304, which answers the program's own conditions.
    public var statuses: [ClosedRange<Int>] = [200...299, 304...304]
    /// The accepted MIME types, such as `application/json`, `text/*`. Nil, the default: all. A response without a body
    /// (204, 205, 304, or one to HEAD) needs none.
    public var mimeTypes: [String]?
    /// The program's own check: its error becomes ``ResponseValidationError/Reason/custom(_:)``.
    public var check: (@Sendable (URLResponse, URLRequest) throws -> Void)?
    /// The largest number of the body's bytes in the error. Default 4,096.
    public var maximumBodyBytes = 4_096

    /// The seconds in which these bytes must arrive. The error does not wait for the end of the body, which may never
    /// come.
    private static let bodyTime: TimeInterval = 2
    private let clock: ResilienceClock

    /// Makes a validation with these settings; see the properties.
    public init(
        statuses: [ClosedRange<Int>] = [200...299, 304...304], mimeTypes: [String]? = nil,
        clock: ResilienceClock = .system,
        check: (@Sendable (URLResponse, URLRequest) throws -> Void)? = nil
    ) {
        self.statuses = statuses
        self.mimeTypes = mimeTypes
        self.clock = clock
        self.check = check
    }

    /// Forwards the request, and checks the response's head before it is delivered.
    public func load(_ load: LoadContext) async throws {
        let loaded = try await load.next.load(load.request)
        guard let reason = reasonToFail(loaded.response, load.request) else { return try await load.receive(loaded) }
        // The response is invalid whether or not its body arrives.
        let bytes = await loaded.body.firstBytes(atMost: maximumBodyBytes) { [clock] in
            try? await clock.sleep(Self.bodyTime)
        }
        try Task.checkCancellation()
        throw ResponseValidationError(reason: reason, response: loaded.response, body: bytes)
    }

    /// The reason why a response is not accepted; nil where it is.
    public func reasonToFail(_ response: URLResponse, _ request: URLRequest) -> ResponseValidationError.Reason? {
        let status = (response as? HTTPURLResponse)?.statusCode
        if let status, !statuses.contains(where: { $0.contains(status) }) { return .status(status) }
        let isEmpty = status.map { [204, 205, 304].contains($0) } ?? false || request.httpMethod == "HEAD"
        if let mimeTypes, !isEmpty, !Self.accepts(response.mimeType, mimeTypes) { return .mimeType(response.mimeType) }
        do {
            try check?(response, request)
            return nil
        } catch {
            return .custom(error)
        }
    }

    /// Whether one of the types, in which `*` matches anything, matches a response's type.
    static func accepts(_ type: String?, _ types: [String]) -> Bool {
        let type = split(type ?? "")
        return types.contains { accepted in
            let accepted = split(accepted)
            return (accepted.0 == "*" || accepted.0 == type.0) && (accepted.1 == "*" || accepted.1 == type.1)
        }
    }

    private static func split(_ type: String) -> (String, String) {
        let essence = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        let parts = essence.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts.first ?? ""), parts.count > 1 ? String(parts[1]) : "")
    }
}

/// The error for a response that ``ResponseValidation`` did not accept.
public struct ResponseValidationError: LocalizedError, Sendable {
    /// The reason for the error.
    public enum Reason: Sendable {
        /// The status.
        case status(Int)
        /// The MIME type; nil where there is none.
        case mimeType(String?)
        /// The error that the program's own check threw.
        case custom(any Error)
    }

    /// The reason for the error.
    public let reason: Reason
    /// The response's head.
    public let response: URLResponse
    /// The first bytes of its body, at most ``ResponseValidation/maximumBodyBytes``; fewer where the body was
    /// interrupted, or did not arrive within two seconds.
    public let body: Data

    /// The first bytes of the body as text.
    public var bodyText: String { String(decoding: body, as: UTF8.self) }

    /// The error in plain words. The URL is without its user and password.
    public var errorDescription: String? {
        let url = URLUsers.hidden(in: response.url?.absoluteString ?? "the server", by: "(redacted)")
        return switch reason {
        case .status(let status): "\(url) answered with status \(status)"
        case .mimeType(let type): "\(url) answered with \(type ?? "no MIME type"), which is not accepted"
        case .custom(let error): "the response of \(url) is not accepted: \(error.localizedDescription)"
        }
    }
}
