import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitTransport

/// A session, with what a row waits for: the ends of its tasks, and its own.
final class ProbeSession: NSObject, URLSessionDelegate {
    private let ends = DispatchGroup()
    private let invalidation = DispatchSemaphore(value: 0)
    private let loop: EventLoop

    /// - Parameter configure: changes the configuration, which knows `stub:`.
    static func make(
        on loop: EventLoop = .next(), _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> (URLSession, ProbeSession) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [StubHandler.self]
        configuration.connectionProxyDictionary = [:]
        configure(configuration)
        let probe = ProbeSession(loop)
        return (URLSession(configuration: configuration, delegate: probe, delegateQueue: nil, loop: loop), probe)
    }

    private init(_ loop: EventLoop) { self.loop = loop }

    /// A task that was not resumed yet.
    func task(_ request: URLRequest, in session: URLSession) -> URLSessionDataTask {
        ends.enter()
        return session.dataTask(with: request) { [ends] _, _, _ in ends.leave() }
    }

    /// Tasks that run: the loop has started each of them.
    func tasks(_ count: Int, _ stub: Stub, in session: URLSession) -> [URLSessionDataTask] {
        let tasks = (0..<count).map { _ in task(stub.request, in: session) }
        for task in tasks { task.resume() }
        settle()
        return tasks
    }

    /// Returns when the loop has done what it was given before.
    func settle() {
        let done = DispatchSemaphore(value: 0)
        loop.execute { done.signal() }
        done.wait()
    }

    func waitForEnds() { ends.wait() }

    func waitForInvalidation() { invalidation.wait() }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { invalidation.signal() }
}
