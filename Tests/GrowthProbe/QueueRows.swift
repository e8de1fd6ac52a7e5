import Foundation
import LoadingKit

/// Requests that wait for a connection to one host.
enum QueueRows {
    static var all: [String: GrowthProbe.Row] {
        [
            "queued-served": { try serve($0) },
            "queued-cancelled-first-to-last": { try cancel($0) { $0 } },
            "queued-cancelled-last-to-first": { try cancel($0) { $0.reversed() } },
            "queued-invalidated": { count in
                let (session, probe, tasks) = try queue(count, AnsweringServer.start(answers: 0))
                session.invalidateAndCancel()
                probe.waitForInvalidation()
                withExtendedLifetime(tasks) {}
            },
        ]
    }

    /// Each with one of many priorities, in no order.
    private static func queue(
        _ count: Int, _ port: UInt16
    ) throws -> (URLSession, ProbeSession, [URLSessionDataTask]) {
        let (session, probe) = ProbeSession.make { $0.httpMaximumConnectionsPerHost = 1 }
        guard let url = URL(string: "http://127.0.0.1:\(port)/") else { throw URLError(.badURL) }
        // The first has the connection, or waits for it; nothing else is done when there are none.
        let tasks = (0...count).map { number in
            let task = probe.task(URLRequest(url: url), in: session)
            task.priority = Float(number * 7919 % 1009) / 1009
            return task
        }
        for task in tasks { task.resume() }
        probe.settle()
        return (session, probe, tasks)
    }

    private static func serve(_ count: Int) throws {
        let (_, probe, tasks) = try queue(count, AnsweringServer.start(answers: .max))
        probe.waitForEnds()
        withExtendedLifetime(tasks) {}
    }

    private static func cancel(
        _ count: Int, _ order: ([URLSessionDataTask]) -> [URLSessionDataTask]
    ) throws {
        let (_, probe, tasks) = try queue(count, AnsweringServer.start(answers: 0))
        for task in order(tasks) { task.cancel() }
        probe.waitForEnds()
    }
}
