import Foundation
import LoadingKit
import Synchronization

extension SoakLoad {
    func expectFile(at url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws {
        let (data, response) = try await session.data(from: url, delegate: delegate)
        try checkStatus(response)
        try SoakContent.check(data, size)
    }

    func checkStatus(_ response: URLResponse?, _ expected: [Int] = [200]) throws {
        guard let status = (response as? HTTPURLResponse)?.statusCode, !expected.contains(status) else { return }
        throw SoakFault("the status is \(status)", status: status)
    }

    func expectPrivateFile(at url: URL) async throws { try await expectFile(at: url, delegate: SoakUser()) }

    func withCompletion() async throws {
        let (isOver, ledger) = (Once(), ledger)
        let (data, response): (Data, URLResponse?) = try await withCheckedThrowingContinuation { continuation in
            session.dataTask(with: file) { data, response, error in
                guard isOver.isFirst else { return ledger.note(fault: "a completion handler is called twice") }
                continuation.resume(with: error.map { .failure($0) } ?? .success((data ?? Data(), response)))
            }.resume()
        }
        try checkStatus(response)
        try SoakContent.check(data, size)
    }

    func withDelegate() async throws {
        let (task, receiver) = (session.dataTask(with: file), SoakReceiver(ledger))
        task.delegate = receiver
        // A consumer that is slow for some time.
        if chance % 10 == 0 {
            task.suspend()
            task.resume()
        }
        let data = try await receiver.run(task)
        try checkStatus(task.response)
        try SoakContent.check(data, size)
    }

    /// - Parameter pausing: whether the reader lags behind the server.
    func readBytes(pausing: Bool) async throws {
        let (bytes, response) = try await session.bytes(from: file)
        try checkStatus(response)
        var data = Data(capacity: size)
        for try await byte in bytes {
            data.append(byte)
            if pausing, data.count % 50_000 == 0 { try await Task.sleep(for: .milliseconds(20)) }
        }
        try SoakContent.check(data, size)
    }

    func cancelled() async throws {
        let (session, file) = (session, base.scheme == "ftp" ? file : url("slow/\(size)"))
        let load = Task { try await session.data(from: file).0 }
        try? await Task.sleep(for: .milliseconds(chance % 30))
        load.cancel()
        try SoakContent.check(try await load.value, size)
    }

    /// The session's own cookie comes back.
    func cookies() async throws {
        let value = "session-\(number)"
        _ = try await session.data(from: url("cookie/set/?value=\(value)"))
        let (data, _) = try await session.data(from: url("cookie/get/"))
        let received = String(decoding: data, as: UTF8.self)
        try SoakContent.check(received == value, "the cookie is \(received), not \(value)")
    }
}

/// Answers challenges with the servers' user.
final class SoakUser: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard challenge.protectionSpace.authenticationMethod != NSURLAuthenticationMethodServerTrust else {
            return (.performDefaultHandling, nil)
        }
        guard challenge.previousFailureCount == 0 else { return (.cancelAuthenticationChallenge, nil) }
        return (.useCredential, URLCredential(user: "soak", password: "secret", persistence: .none))
    }
}

/// Receives a task's data, and checks that the task ends once.
final class SoakReceiver: NSObject, URLSessionDataDelegate {
    private struct State {
        var data = Data()
        var continuation: CheckedContinuation<Data, any Error>?
    }

    private let ledger: SoakLedger
    private let isOver = Once()
    private let state = Mutex(State())

    init(_ ledger: SoakLedger) { self.ledger = ledger }

    func run(_ task: URLSessionTask) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            state.withLock { $0.continuation = continuation }
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.data.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard isOver.isFirst else { return ledger.note(fault: "a delegate is told of its task's end twice") }
        let (data, continuation) = state.withLock { ($0.data, $0.continuation) }
        continuation?.resume(with: error.map { .failure($0) } ?? .success(data))
    }
}

/// Whether something happens for the first time.
final class Once: Sendable {
    private let hasHappened = Atomic<Bool>(false)

    var isFirst: Bool { !hasHappened.exchange(true, ordering: .sequentiallyConsistent) }
}
