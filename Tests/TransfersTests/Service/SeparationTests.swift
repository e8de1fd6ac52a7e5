import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransfers

#if Persistence
    /// What two sessions of the service do not share.
    @Suite("Sessions of the service")
    struct SeparationTests {
        struct Other: Sendable, CustomTestStringConvertible {
            let identifier: String
            let program: String
            var testDescription: String { "\(identifier) of \(program)" }
        }

        @Test(
            "two sessions share no transfer, field, connection or cookie",
            arguments: [
                Other(identifier: "another", program: "/p"), Other(identifier: "s", program: "/another"),
            ])
        func nothingIsShared(_ other: Other) async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let server = try LoopbackServer { request in
                    let facts = ["Authorization", "Cookie"].map { request.fields[name: $0] ?? "-" }
                    return .text(facts.joined(separator: " ")).adding("Set-Cookie", "of=\(facts[0])")
                }
                defer { server.stop() }
                let service = try harness.start()
                defer { service.stop() }
                let one = TestProgram(
                    service, try harness.description { $0.httpAdditionalHeaders = ["Authorization": "one"] })
                let two = TestProgram(
                    service,
                    try harness.description(other.identifier, program: other.program) {
                        $0.httpAdditionalHeaders = ["Authorization": "two"]
                    })
                #expect(try await two.attached().transfers.isEmpty)
                var received: [String] = []
                for (program, identifier) in [(one, 1), (two, 1), (one, 2), (two, 2)] {
                    try await program.download(identifier, server.url())
                    let end = try await program.end(of: identifier)
                    let file = try #require(end.file)
                    received.append(try String(contentsOfFile: file, encoding: .utf8))
                }
                #expect(received == ["one -", "two -", "one of=one", "two of=two"])
                let connections = server.requests.snapshot.map(\.connection)
                #expect(Set([connections[0], connections[2]]).isDisjoint(with: [connections[1], connections[3]]))
            }
        }

        @Test("what begins after the program has changed its stores is loaded with those")
        func changedStores() async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let server = try LoopbackServer { _ in .text("hello") }
                defer { server.stop() }
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                for identifier in 1...3 {
                    harness.storesHaveChanged.value = identifier == 3
                    try await program.download(identifier, server.url())
                    #expect(try await program.end(of: identifier).error == nil)
                }
                let connections = server.requests.snapshot.map(\.connection)
                #expect(connections.count == 3 && !connections.prefix(2).contains(connections[2]))
            }
        }
    }
#endif
