import Foundation
import LoadingKit

/// Answers a request from a recording.
final class ReplayHandler: URLProtocolHandler, @unchecked Sendable {  // its player is Sendable
    private let player: HARPlayer

    init(_ request: URLRequest, _ player: HARPlayer) {
        self.player = player
        super.init(request: request, cachedResponse: nil, client: nil)
    }

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        player = HARPlayer(HARLog())
        super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    override func load(_ load: LoadContext) async throws {
        let body = try await load.receivedBody(atMost: player.options.maximumBodySize)
        let request = ReceivedRequest(load.request, body: body)
        let entry = try player.entry(for: request)
        let sender = ResponseSender(load: load, clock: player.options.clock)
        if player.options.keepsTimings, entry.timings.wait.isFinite {
            try await sender.wait(.milliseconds(min(max(entry.timings.wait, 0), 86_400_000)))
        }
        if let error = entry.response.recordedError { throw error }
        let response = try StubResponse(
            entry, method: request.method, allowsMissingBody: player.options.allowsMissingBodies)
        try await sender.respond(to: request, with: response)
    }
}

extension StubResponse {
    /// The response of an entry.
    ///
    /// The length is the recorded body's, which a redaction may have changed.
    init(_ entry: HAREntry, method: String, allowsMissingBody: Bool) throws {
        let recorded = entry.response
        self.init(recorded.status)
        let hasBody = ResponseContent.isThere(method: method, status: recorded.status)
        let isRedirect = !recorded.redirectURL.isEmpty
        if hasBody, let data = recorded.content.data {
            body = .data(data)
        } else if hasBody, !isRedirect, !allowsMissingBody {
            throw HARError(
                "the recording does not have the body of \(entry.request.method) \(entry.request.url) "
                    + "(\(recorded.content.size) bytes; \(recorded.content.comment ?? "no text, or no base64"))")
        }
        let isCoded = recorded.headers.contains { $0.name.lowercased() == "content-encoding" }
        for field in recorded.headers where !field.name.hasPrefix(":") && !field.name.isEmpty {
            var value = field.value.split(whereSeparator: \.isNewline).joined(separator: ", ")
            if field.name.lowercased() == "content-length", hasBody, !isCoded, !isRedirect {
                value = String(recorded.content.data?.count ?? 0)
            }
            fields.append(NamedValue(name: field.name, value: value))
        }
        if isRedirect, !fields.contains(where: { $0.name.lowercased() == "location" }) {
            fields.append(NamedValue(name: "Location", value: recorded.redirectURL))
        }
    }
}

extension HARResponse {
    /// Chrome's names of errors, where they are more specific than a failed load.
    private static let chromeErrors: [String: URLError.Code] = [
        "net::ERR_CONNECTION_REFUSED": .cannotConnectToHost,
        "net::ERR_ADDRESS_UNREACHABLE": .cannotConnectToHost,
        "net::ERR_CONNECTION_TIMED_OUT": .timedOut,
        "net::ERR_TIMED_OUT": .timedOut,
        "net::ERR_NAME_NOT_RESOLVED": .cannotFindHost,
        "net::ERR_INTERNET_DISCONNECTED": .notConnectedToInternet,
        "net::ERR_SSL_PROTOCOL_ERROR": .secureConnectionFailed,
        "net::ERR_CERT_AUTHORITY_INVALID": .serverCertificateHasUnknownRoot,
        "net::ERR_CERT_DATE_INVALID": .serverCertificateHasBadDate,
        "net::ERR_TOO_MANY_REDIRECTS": .httpTooManyRedirects,
        "net::ERR_INVALID_HTTP_RESPONSE": .cannotParseResponse,
        "net::ERR_ABORTED": .cancelled,
        "cancelled": .cancelled,
    ]

    /// The recorded error of the load; nil where it did not fail. A load that failed in its body fails at once.
    var recordedError: URLError? {
        let text = others["_error"]?.string
        let own = others["_urlErrorCode"]?.integer.flatMap { Int(exactly: $0) }
        guard status <= 0 || own != nil else { return nil }
        let code = own.map { URLError.Code(rawValue: $0) } ?? text.flatMap { Self.chromeErrors[$0] }
        return URLError(
            code ?? .networkConnectionLost,
            userInfo: [NSLocalizedDescriptionKey: "\(text ?? "no response") (as it was recorded)"])
    }
}
