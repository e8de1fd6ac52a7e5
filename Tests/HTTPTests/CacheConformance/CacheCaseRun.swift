import Foundation
import LoadingKit
import LoadingKitLoopbackServer

/// Runs one test: sends its requests one after the other, and reports what is wrong.
struct CacheCaseRun {
    let test: CacheCase
    let session: URLSession
    let server: CacheCaseServer
    let base: URL
    let clock: TestWallClock

    private struct Failure: Error { let text: String }

    /// Nil when nothing is wrong.
    func failure() async -> String? {
        server.start(test)
        do {
            var responses: [HTTPURLResponse] = []
            for (index, step) in test.requests.enumerated() {
                let (data, response) = try await session.data(for: request(step, index + 1))
                guard let response = response as? HTTPURLResponse else { throw Failure(text: "no HTTP") }
                responses.append(response)
                try check(response, String(decoding: data, as: UTF8.self), step, index + 1)
                if step.pauseAfter == true { clock.advance(by: 3) }
            }
            try checkServerSide(responses)
            return nil
        } catch let failure as Failure {
            return failure.text
        } catch {
            return "\(error)"
        }
    }

    private func request(_ step: CacheStep, _ number: Int) -> URLRequest {
        var url = base.appending(path: test.id)
        if let filename = step.filename { url.append(path: filename) }
        var request = URLRequest(url: url)
        request.httpMethod = step.requestMethod
        request.httpBody = step.requestBody.map { Data($0.utf8) }
        if step.cache == "no-cache" { request.cachePolicy = .reloadRevalidatingCacheData }
        for header in step.requestHeaders ?? [] {
            request.addValue(header.text(now: clock.now), forHTTPHeaderField: header.name)
        }
        request.setValue("\(number)", forHTTPHeaderField: "Req-Num")
        return request
    }

    private func expect(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw Failure(text: text()) }
    }

    private func check(_ response: HTTPURLResponse, _ body: String, _ step: CacheStep, _ number: Int) throws {
        let count = response.value(forHTTPHeaderField: "Server-Request-Count").flatMap { Int($0) }
        switch step.expectedType {
        case .cached: try expect(count.map { $0 < number } ?? (response.statusCode == 304), "\(number) is not cached")
        case .notCached: try expect(count == number, "\(number) is cached")
        case .etagValidated, .lastModifiedValidated, nil: break
        }
        let status = step.expectedStatus ?? step.responseStatus?.code ?? 200
        try expect(response.statusCode == status, "\(number) has status \(response.statusCode), not \(status)")
        for header in step.expectedResponseHeaders ?? [] {
            let value = response.value(forHTTPHeaderField: header.name)
            try expect(value == header.text(now: clock.now), "\(number) has \(header.name): \(value ?? "nil")")
        }
        for name in step.expectedResponseHeadersMissing ?? [] {
            try expect(response.value(forHTTPHeaderField: name) == nil, "\(number) has \(name)")
        }
        guard step.checkBody != false, !step.hasResponseText, ![204, 304].contains(status) else { return }
        try expect(body == step.responseBody ?? CacheCaseServer.body, "\(number) has the body \(body)")
    }

    private func checkServerSide(_ responses: [HTTPURLResponse]) throws {
        var seen = server.seen(in: test)[...]
        for (index, step) in test.requests.enumerated() where step.expectedType != .cached {
            let number = index + 1
            let request = seen.popFirst()
            switch step.expectedType {
            case .notCached: try expect(request?.number == number, "\(number) did not reach the server")
            case .etagValidated:
                try expect(request?.fields.contains(.ifNoneMatch) == true, "\(number) has no If-None-Match")
            case .lastModifiedValidated:
                try expect(request?.fields.contains(.ifModifiedSince) == true, "\(number) has no If-Modified-Since")
            case .cached, nil: break
            }
            for header in step.expectedRequestHeaders ?? [] {
                let value = request?.fields[name: header.name]
                try expect(value == header.text(now: clock.now), "\(number) was sent \(header.name): \(value ?? "nil")")
            }
            for (name, value) in request?.checked ?? [] {
                let received = responses[index].value(forHTTPHeaderField: name)
                try expect(received == value, "\(number) has \(name): \(received ?? "nil"), not \(value)")
            }
        }
    }
}
