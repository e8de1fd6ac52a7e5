import Foundation
import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Makes the connections of an event stream.
struct EventStreamConnector: Sendable {
    enum Response: Sendable {
        case stream(URLSession.AsyncBytes)
        case noContent
        /// A status that is retried.
        case unavailable(EventStreamError, retryAfter: Double?)
    }

    private let session: URLSession
    private let request: URLRequest
    private let retriedStatuses: Set<Int>
    private let delegate: (any URLSessionTaskDelegate)?

    init(
        _ session: URLSession, _ request: URLRequest, _ options: EventStreamOptions,
        _ delegate: (any URLSessionTaskDelegate)?
    ) {
        var request = request
        if request.value(forHTTPHeaderField: "Accept") == nil {
            request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        }
        if request.value(forHTTPHeaderField: "Cache-Control") == nil {
            request.setValue("no-store", forHTTPHeaderField: "Cache-Control")
        }
        request.cachePolicy = .reloadIgnoringLocalCacheData
        if request.timeoutInterval == 60, session.configuration.timeoutIntervalForRequest == 60 {
            request.timeoutInterval = options.idleTimeout
        }
        self.request = request
        self.session = session
        self.delegate = delegate
        retriedStatuses = options.reconnection.retriedStatuses
    }

    var method: String { request.httpMethod ?? "GET" }

    /// - Throws: `EventStreamError` for a response that is not an event stream; `URLError`.
    func connect(lastEventID: String) async throws -> Response {
        var request = request
        if Self.canBeSent(lastEventID) { request.setValue(lastEventID, forHTTPHeaderField: "Last-Event-ID") }
        let (bytes, response) = try await session.bytes(for: request, delegate: delegate)
        let http = response as? HTTPURLResponse
        if http?.statusCode == 204 { return .noContent }
        if let http, http.statusCode != 200 {
            let error = EventStreamError.status(http.statusCode, firstBytes: await FirstBytes.read(bytes))
            guard retriedStatuses.contains(http.statusCode) else { throw error }
            let now = Date().timeIntervalSince1970
            let value = http.value(forHTTPHeaderField: "Retry-After")
            return .unavailable(error, retryAfter: value.flatMap { HTTPDate.delay(ofRetryAfter: $0, now: now) })
        }
        guard response.mimeType?.lowercased() == "text/event-stream" else {
            throw EventStreamError.mimeType(response.mimeType, firstBytes: await FirstBytes.read(bytes))
        }
        return .stream(bytes)
    }

    /// Whether there is an ID, without control characters, which a field must not contain (RFC 9110 §5.5). A server may
    /// send an ID that no request can have: the session would refuse it, and the stream would be over.
    private static func canBeSent(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
    }
}

extension URLError {
    /// Whether a retry may succeed: the request may be valid, and the network or the server was not ready.
    ///
    /// `secureConnectionFailed` is the code of a server that has no TLS, or none that this client can use, and also of a
    /// connection that broke within the TLS handshake. A server that has answered before has usable TLS. A certificate
    /// is not yet valid, above all, where the machine's clock has not been set since its start.
    func mayPass(hasAnswered: Bool) -> Bool {
        switch code {
        case .secureConnectionFailed: hasAnswered
        case .cancelled, .badURL, .unsupportedURL, .userAuthenticationRequired, .userCancelledAuthentication,
            .httpTooManyRedirects, .redirectToNonExistentLocation, .appTransportSecurityRequiresSecureConnection,
            .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
            .clientCertificateRejected, .clientCertificateRequired, .requestBodyStreamExhausted, .cannotParseResponse,
            .dataLengthExceedsMaximum, .cannotDecodeRawData, .cannotDecodeContentData, .fileDoesNotExist,
            .noPermissionsToReadFile:
            false
        default: true
        }
    }
}
