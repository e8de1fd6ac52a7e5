import Foundation
import LoadingKit

/// Sends the prepared response to a load.
struct ResponseSender {
    let load: LoadContext
    let clock: any Clock<Duration>

    func wait(_ delay: Duration) async throws {
        if delay > .zero { try await clock.sleep(for: delay) }
    }

    /// Forwards the request, with its received body.
    func passOn(_ request: ReceivedRequest) async throws {
        try await load.receive(load.next.load(request.request))
    }

    /// Sends head and body, or redirects; ends with the response's fault.
    func respond(to request: ReceivedRequest, with response: StubResponse) async throws {
        if let fault = response.fault, fault.bodyBytes == nil { throw fault.error }
        let body = try await StubBody(response.body)
        let head = head(of: response, length: body.length, request)
        if let next = RedirectTarget.request(after: request, head) {
            try await load.redirect(to: next, response: head)
        }
        try await load.receive(head)
        if ResponseContent.isThere(method: request.method, status: response.status) {
            try await send(body, response)
        }
        if let fault = response.fault { throw fault.error }
    }

    private func send(_ body: StubBody, _ response: StubResponse) async throws {
        var left = response.fault?.bodyBytes ?? .max
        for try await piece in body.pieces {
            guard left > 0 else { return }
            try await wait(response.delayBetweenPieces)
            try await load.receive(piece.count > left ? Data(piece.prefix(left)) : piece)
            left -= min(left, piece.count)
        }
    }

    private func head(
        of response: StubResponse, length: Int?, _ request: ReceivedRequest
    ) -> HTTPURLResponse {
        var fields = response.fields
        let isFramed = fields.contains { ["content-length", "transfer-encoding"].contains($0.name.lowercased()) }
        if let length, !isFramed, response.status != 204, response.status != 304 {
            fields.append(NamedValue(name: "Content-Length", value: String(length)))
        }
        return HTTPURLResponse(
            url: request.url, statusCode: response.status, headerFields: fields.map { ($0.name, $0.value) })
    }
}

extension LoadContext {
    /// The complete body of the request. Reports the progress to the session.
    func receivedBody(atMost limit: Int) async throws -> Data {
        var whole = Data()
        let expected = body.count.map { Int64($0) } ?? -1
        for try await piece in body {
            guard piece.count <= limit - whole.count else {
                throw URLError(
                    .dataLengthExceedsMaximum,
                    userInfo: [NSLocalizedDescriptionKey: "the request's body has more than \(limit) bytes"])
            }
            whole.append(piece)
            report(progress: piece.count, expected: expected)
        }
        return whole
    }
}
