import Foundation
import LoadingKit

/// Sends requests for credentials in a separate session: without proxies, redirects and stores.
struct CredentialsSession {
    /// The largest number of bytes in an answer.
    private static let maximumAnswer = 64 << 10

    private let session: URLSession

    /// - Parameter timeout: seconds without an answer after which a request fails; twice this time for the whole
    ///   request.
    init(timeout: TimeInterval) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.timeoutIntervalForRequest = timeout
        configuration.timeoutIntervalForResource = timeout * 2
        configuration.maximumCollectedBodySize = Self.maximumAnswer
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
    }

    func load(_ url: URL, method: String = "GET", fields: [String: String] = [:]) async throws -> (status: Int, Data) {
        var request = URLRequest(url: url)
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await session.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
    }

    func close() { session.invalidateAndCancel() }
}

/// Refuses redirects, because a token in a field would be sent with them.
private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

extension Error {
    /// The error without text that may contain a URL with secrets: only its code.
    var plainReason: String {
        guard let error = self as? URLError else { return "\(type(of: self))" }
        return switch error.code {
        case .timedOut: "it did not answer in time"
        case .cannotConnectToHost, .cannotFindHost, .networkConnectionLost, .notConnectedToInternet:
            "it cannot be reached"
        case .dataLengthExceedsMaximum: "the answer is too long"
        default: "the request failed (URLError \(error.code.rawValue))"
        }
    }
}
