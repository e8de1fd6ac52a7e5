import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives

/// The server of the tests: answers each request as the test specifies, and records the requests.
final class CacheCaseServer: Sendable {
    /// A request that reached the server, and the fields of the response that the client must receive.
    struct Seen: Sendable {
        let number: Int
        let fields: HTTPFields
        let checked: [(name: String, value: String)]
    }

    private struct Running: Sendable {
        let test: CacheCase
        var seen: [Seen] = []
        /// The responses, by the numbers of their requests.
        var sent: [Int: HTTPFields] = [:]
    }

    /// The body where a test has none. It is as long as in the original, which some tests rely on.
    static let body = "0123456789abcdef0123456789abcdef0123"

    private let running = Guarded<[String: Running]>([:])
    private let clock: TestWallClock

    init(_ clock: TestWallClock) { self.clock = clock }

    func start(_ test: CacheCase) { running.withLock { $0[test.id] = Running(test: test) } }

    func seen(in test: CacheCase) -> [Seen] { running.withLock { $0[test.id]?.seen ?? [] } }

    func answer(_ request: ServerRequest) throws -> ServerResponse {
        let id = String(request.path.split(separator: "/").first ?? "")
        guard let test = running.withLock({ $0[id]?.test }),
            let number = request.fields[name: "Req-Num"].flatMap({ Int($0) }),
            test.requests.indices.contains(number - 1)
        else { return .text("no such test", status: 409) }
        let step = test.requests[number - 1]
        var response = ServerResponse(status(request, step, after: previousFields(test, number)))
        let checked = addFields(step, to: &response, request)
        let sent = response.fields
        let count = running.withLock { running in
            running[id]?.seen.append(Seen(number: number, fields: request.fields, checked: checked))
            running[id]?.sent[number] = sent
            return running[id]?.seen.count ?? 0
        }
        response.fields.append(name: "Server-Request-Count", value: "\(count)")
        if ![204, 304].contains(response.status) {
            response.body = .bytes(Array((step.responseBody ?? Self.body).utf8))
        }
        return response
    }

    /// 304 where the request validates the response to the request before it; 999 where it should and does not.
    private func status(_ request: ServerRequest, _ step: CacheStep, after previous: HTTPFields) -> Int {
        guard step.expectedType?.isValidated == true else { return step.responseStatus?.code ?? 200 }
        if let modified = previous[.lastModified], request.fields[.ifModifiedSince] == modified { return 304 }
        if let tag = previous[.etag], request.fields[.ifNoneMatch] == tag { return 304 }
        return 999
    }

    /// The response to the request before this one, or the one that the server would have sent if the cache had not
    /// answered.
    private func previousFields(_ test: CacheCase, _ number: Int) -> HTTPFields {
        if let sent = running.withLock({ $0[test.id]?.sent[number - 1] }) { return sent }
        var fields = HTTPFields()
        guard number > 1 else { return fields }
        for header in test.requests[number - 2].responseHeaders ?? [] {
            fields.append(name: header.name, value: header.text(now: clock.now))
        }
        return fields
    }

    private func addFields(
        _ step: CacheStep, to response: inout ServerResponse, _ request: ServerRequest
    ) -> [(name: String, value: String)] {
        var checked: [(name: String, value: String)] = []
        for header in step.responseHeaders ?? [] {
            var value = header.text(now: clock.now)
            if step.magicLocations == true, header.name.lowercased().hasSuffix("location") {
                value = "\(request.path)/\(value)"
            }
            response.fields.append(name: header.name, value: value)
            if header.isChecked, header.name.lowercased() != "date" {
                checked.append((header.name, response.fields[name: header.name] ?? value))
            }
        }
        if !response.fields.contains(.contentType) { response.fields.append(.contentType, "text/plain") }
        // Lines of the same name count together.
        return checked.map { ($0.name, response.fields[name: $0.name] ?? $0.value) }
    }
}
