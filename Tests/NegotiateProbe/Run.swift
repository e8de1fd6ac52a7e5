import Foundation
import LoadingKit
import LoadingKitNegotiate

/// Loads what a plan says.
final class Run: NSObject, URLSessionTaskDelegate, @unchecked Sendable {  // the variables are guarded by `lock`
    private let plan: Plan
    private let lock = NSLock()
    private var found = Report()

    init(_ plan: Plan) { self.plan = plan }

    func report() async -> Report {
        let session = URLSession(configuration: configuration(), delegate: self, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        lock.withLock { found.responses = plan.requests.map { _ in Report.Response() } }
        if plan.isParallel {
            await withTaskGroup(of: Void.self) { group in
                for index in plan.requests.indices { group.addTask { await self.load(index, with: session) } }
            }
        } else {
            for index in plan.requests.indices { await load(index, with: session) }
        }
        return lock.withLock { found }
    }

    private func configuration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = plan.timeout
        configuration.connectionProxyDictionary =
            plan.proxyPort.map {
                [
                    "HTTPEnable": 1, "HTTPProxy": "localhost", "HTTPPort": $0, "HTTPSEnable": 1,
                    "HTTPSProxy": "localhost",
                    "HTTPSPort": $0,
                ] as [AnyHashable: Any]
            } ?? [:]
        if let authority = plan.authority { configuration.tlsTrustRoots = .pem(authority) }
        var negotiate = Negotiate()
        negotiate.cleartextHosts = plan.cleartextHosts
        negotiate.delegationHosts = plan.delegationHosts
        negotiate.requiresMutualAuthentication = plan.requiresMutualAuthentication
        negotiate.failureHandler = { failure in self.note { $0.failures.append(failure.description) } }
        negotiate.install(in: configuration)
        return configuration
    }

    private func note(_ body: (inout Report) -> Void) { lock.withLock { body(&found) } }

    private func load(_ index: Int, with session: URLSession) async {
        var response = Report.Response()
        let counter = Counter(body(of: index))
        do {
            let (data, head) = try await session.data(for: try request(index), delegate: counter)
            response.url = head.url?.absoluteString ?? ""
            response.status = (head as? HTTPURLResponse)?.statusCode ?? 0
            response.body = String(decoding: data.prefix(1000), as: UTF8.self)
        } catch {
            response.error = (error as NSError).code
        }
        let counts = await counter.counts()
        (response.sent, response.bodyBytes, response.connections) = (counts.sent, counts.bodyBytes, counts.connections)
        note {
            $0.responses[index] = response
            $0.order.append(index)
        }
    }

    private func body(of index: Int) -> Data {
        Data(repeating: UInt8(ascii: "x"), count: plan.requests[index].bodySize ?? 0)
    }

    private func request(_ index: Int) throws -> URLRequest {
        let wanted = plan.requests[index]
        guard let url = URL(string: wanted.url) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = wanted.method
        guard wanted.bodySize != nil else { return request }
        if wanted.isStreamed {
            request.httpBodyStream = InputStream(data: body(of: index))
        } else {
            request.httpBody = body(of: index)
        }
        return request
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        answer("session", challenge, completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        answer("task", challenge, completionHandler)
    }

    private func answer(
        _ level: String, _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let method = challenge.protectionSpace.authenticationMethod.replacing("NSURLAuthenticationMethod", with: "")
        guard method != "ServerTrust" else { return completionHandler(.performDefaultHandling, nil) }
        note { $0.challenges.append("\(level) \(method) \(challenge.previousFailureCount)") }
        let user = method == "Negotiate" ? plan.negotiateUser : plan.otherUser
        guard let user, let password = plan.password, challenge.previousFailureCount == 0 else {
            return completionHandler(.performDefaultHandling, nil)
        }
        completionHandler(.useCredential, URLCredential(user: user, password: password, persistence: .forSession))
    }
}

/// A task's delegate, which counts what was sent for it.
private final class Counter: NSObject, URLSessionTaskDelegate, @unchecked Sendable {  // only `let`s
    typealias Counts = (sent: Int, bodyBytes: Int, connections: Int)

    private let body: Data
    private let stream: AsyncStream<Counts>
    private let continuation: AsyncStream<Counts>.Continuation

    init(_ body: Data) {
        self.body = body
        (stream, continuation) = AsyncStream.makeStream()
    }

    func counts() async -> Counts { await stream.first { _ in true } ?? (0, 0, 0) }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        let sent = metrics.transactionMetrics.filter { $0.requestStartDate != nil }
        continuation.yield(
            (
                sent.count, sent.reduce(0) { $0 + Int($1.countOfRequestBodyBytesSent) },
                sent.count { !$0.isReusedConnection }
            ))
        continuation.finish()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(InputStream(data: body))
    }
}
