import Foundation
import LoadingKit
import LoadingKitForms
import Synchronization

/// Checks of interceptors: a probe behind them all sees what they pass on, and fails where they do not expect it.
extension ConformanceBench {
    /// The decisions of interceptors, without a load.
    func checkInterceptors() {
        let configuration = URLSessionConfiguration.ephemeral
        conformance.configure(configuration)
        for interceptor in configuration.interceptors {
            for request in conformance.samples.map(\.request) {
                let check = ConformanceCheck(self, "canIntercept(_:) is asked 100 times", request)
                let answers = Set((0..<100).map { _ in interceptor.canIntercept(request) })
                check.expect(
                    1, answers.count == 1, "the answers of \(type(of: interceptor)) differ for the same request")
                expectBrief(check, 1, "canIntercept(_:) of \(type(of: interceptor))") {
                    _ = interceptor.canIntercept(request)
                }
                guard let adapter = interceptor as? any LoadAdapter, answers == [true] else { continue }
                let adapted = ConformanceCheck(self, "adapt(_:) is called", request)
                expectBrief(adapted, 3, "adapt(_:) of \(type(of: adapter))") { _ = try? adapter.adapt(request) }
            }
        }
    }

    /// - Parameter body: a function that runs on the event loop.
    func expectBrief(_ check: ConformanceCheck, _ rule: Int, _ name: String, _ body: () -> Void) {
        let time = Self.shortestTime(of: body)
        check.expect(
            rule, time <= Self.blockingTimeOfDecisions,
            "\(name) takes \(Int(time * 1000)) ms, in which the event loop stands still: it decides by the request "
                + "alone, and blocks nowhere")
    }

    func checkForwarding(_ resource: Resource) async {
        guard hasInterceptors else { return }
        await checkBrokenBody(resource)
        await checkSecrets(resource.request)
    }

    /// The body breaks once. The program gets the error, or the whole.
    private func checkBrokenBody(_ resource: Resource) async {
        let check = ConformanceCheck(self, "broken in the middle of the body, once", resource.request)
        let half = resource.whole.count / 2
        guard half > 0, !resource.hasParts else { return }
        guard let outcome = await check.outcome(12, behind: .breakingOnce(after: half)) else { return }
        check.expect(
            12, outcome.error != nil || outcome.data == resource.whole,
            "the program got no error, and \(outcome.data.count) bytes of \(resource.whole.count): throw the error "
                + "that reading the body throws")
        check.expect(
            12, outcome.responses <= 1,
            "the load began again when its body broke, with a second response: once a response is given, its error is "
                + "the load's")
    }

    /// A request with secrets is redirected to another origin. Nothing of them, and no secret of an interceptor, may be
    /// in what is passed on to others.
    private func checkSecrets(_ request: URLRequest) async {
        guard let url = request.url, url.host != nil,
            var elsewhere = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return }
        elsewhere.host = "elsewhere.invalid"
        elsewhere.query = nil
        elsewhere.user = nil
        elsewhere.password = nil
        guard let other = elsewhere.url else { return }
        let check = ConformanceCheck(self, "redirected to another origin with secrets", request)
        let marker = UUID().uuidString
        var secret = request
        secret.setValue("Bearer \(marker)", forHTTPHeaderField: "Authorization")
        let leaks = Mutex<[String]>([])
        let hasOwnOrigin = Mutex(false)
        let probe = LoadProbe { load in
            let isOwn = load.url.host == url.host && load.url.port == url.port && load.url.scheme == url.scheme
            if isOwn {
                hasOwnOrigin.withLock { $0 = true }
            } else {
                let found = Self.secrets(in: load.request, marker)
                leaks.withLock { $0 += found.map { "\($0) to \(load.url.host ?? load.url.absoluteString)" } }
            }
            let status = isOwn ? 302 : 204
            let fields = isOwn ? ["Location": other.absoluteString] : [:]
            guard
                let response = HTTPURLResponse(
                    url: load.url, statusCode: status, httpVersion: nil, headerFields: fields)
            else { return }
            if !isOwn { return try await load.receive(response) }
            try await load.redirect(to: URLRequest(url: other), response: response)
        }
        let observer = LoadObserver()
        guard await check.outcome(23, observer, behind: probe, { [secret] in $0.dataTask(with: secret) }) != nil else {
            return
        }
        // An interceptor may load the whole resource from elsewhere, such as a mirror: that is then its origin.
        let found = hasOwnOrigin.withLock { $0 } ? leaks.withLock { Set($0) }.sorted() : []
        check.expect(
            23, found.isEmpty,
            "a secret went to another origin (\(found.joined(separator: ", "))): add it in canIntercept(_:)'s hosts "
                + "only, and copy no field to a request for another host")
    }

    /// The names of the fields and query items that carry secrets.
    private static func secrets(in request: URLRequest, _ marker: String) -> [String] {
        let names = Set(SecretNames.headerFields.map { $0.lowercased() })
        let fields = (request.allHTTPHeaderFields ?? [:]).filter {
            names.contains($0.key.lowercased()) || $0.value.contains(marker)
        }
        let items = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.queryItems } ?? []
        let secret = items.filter { SecretNames.queryItems.contains($0.name) || $0.value?.contains(marker) ?? false }
        return fields.keys.map { "the field \($0)" } + secret.map { "the query item \($0.name)" }
    }
}

extension LoadProbe {
    /// Breaks the first body, where it is longer than `count` bytes, after these.
    static func breakingOnce(after count: Int) -> LoadProbe {
        let hasBroken = Mutex(false)
        return LoadProbe { load in
            let loaded = try await load.next.load(load.request)
            let breaks = hasBroken.withLock { value in
                defer { value = true }
                return !value
            }
            guard breaks else { return try await load.receive(loaded) }
            try await load.receive(loaded.response)
            var rest = count
            for try await piece in loaded.body {
                try await load.receive(piece.prefix(rest))
                rest -= min(rest, piece.count)
                if rest == 0 { throw URLError(.networkConnectionLost) }
            }
        }
    }
}
