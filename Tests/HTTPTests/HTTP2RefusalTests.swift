import Foundation
import LoadingKit
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// A server that refuses streams (REFUSED_STREAM) is busy: the requests are sent again after pauses, which all share, and not
/// for ever (RFC 9113 §8.7).
@Suite struct HTTP2RefusalTests {
    private static let tasks = 100

    /// Refuses streams, or answers them, as it is told by how many have come.
    private static func serve(
        _ socket: StreamSocket, _ streams: Box<Int>, refuses: @Sendable (_ number: Int) -> Bool
    ) throws {
        try socket.serveHTTP2(streams: UInt32(tasks)) { event, machine, output in
            guard case .headers(let stream, _, _) = event else { return }
            let number = streams.update { count in
                defer { count += 1 }
                return count
            }
            if refuses(number) {
                machine.sendReset(stream, .refusedStream, to: &output)
            } else {
                try machine.sendResponse(204, HTTPFields(), on: stream, endStream: true, to: &output)
            }
        }
    }

    /// Gives the outcomes of all tasks, and how many streams and connections there were.
    private static func run(
        refuses: @escaping @Sendable (_ number: Int) -> Bool
    ) async throws -> (outcomes: [Outcome], streams: Int, connections: Int) {
        let (streams, connections) = (Box(0), Box(0))
        let peer = try ConnectionAcceptor(.ipv4()) { socket, _ in
            connections.update { $0 += 1 }
            try? Self.serve(socket, streams, refuses: refuses)
        }
        defer { peer.stop() }
        let session = makeSession { $0.assumesCleartextHTTP2 = true }
        defer { session.invalidateAndCancel() }
        let url = try peer.url
        let outcomes = try await withTimeout {
            await withTaskGroup(of: Outcome.self, returning: [Outcome].self) { group in
                for _ in 0..<tasks { group.addTask { await session.outcome(URLRequest(url: url)) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(outcomes.count == tasks)
        return (outcomes, streams.value, connections.value)
    }

    @Test func whatIsAlwaysRefusedIsSentFiveTimes() async throws {
        let (outcomes, streams, connections) = try await Self.run { _ in true }
        #expect(outcomes.allSatisfy { $0 == .failed(.networkConnectionLost) })
        #expect(streams <= 5 * Self.tasks, "\(streams) streams")
        #expect(connections == 1)
    }

    @Test func whatIsRefusedForAWhileIsAnsweredAtLast() async throws {
        let (outcomes, streams, connections) = try await Self.run { $0 < 3 * Self.tasks }
        #expect(outcomes.allSatisfy { $0 == .loaded(status: 204, body: "") })
        #expect(streams == 4 * Self.tasks)
        #expect(connections == 1)
    }

    /// A server that answers some of the requests is asked for the others again, as long as it answers some.
    @Test func aServerThatAnswersSomeIsAskedOn() async throws {
        let (outcomes, streams, _) = try await Self.run { $0 % 2 == 0 }
        #expect(outcomes.allSatisfy { $0 == .loaded(status: 204, body: "") })
        #expect(streams <= 3 * Self.tasks)
    }
}
