import Foundation
import LoadingKitCore
import LoadingKitTransfers
import LoadingKitTransport
import TestSupport
import Testing

/// More than goes into one message, or may wait for a program that reads slowly.
@Suite struct ManyTransfersTests {
    /// The bytes of the command, and of the transfer when the session is attached again, are more than may wait.
    @Test func aBodyOf60MiBGoesToTheDaemonAndBack() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let body = Data(repeating: 0xA5, count: 60 << 20)
            // One loop for both connections, so that the daemon learns of the end of the first before it gets the second.
            let loop = EventLoop(name: "program")
            for round in 1...2 {
                let session = AttachedSession(fixture.access(on: loop), fixture.session("a"))
                defer { session.channel.detach() }
                let found = await session.state(1)?.transfers
                #expect(found?.count == round - 1)
                if round == 2 { #expect(found?.first?.request.body == body) }
                guard round == 1 else { continue }
                var transfer = fixture.transfer(1)
                transfer.request.body = body
                #expect(await session.perform(.begin(transfer)) == nil)
            }
            #expect(fixture.daemons.count == 1)
            loop.stop()
        }
    }

    /// They come in time, however slowly the program reads.
    @Test func manyTransfersAndEndsAreMoreThanMayWait() async throws {
        try await withTimeout {
            var limits = DaemonServer.Limits()
            limits.maximumWaiting = 1 << 20
            let server = try ServerInProcess(limits)
            await server.untilItServes()
            let program = try PlainProgram(server.place)
            #expect(try program.greet() != nil)
            program.write(try MessageFrame(.attach(WireSamples.session)).bytes)
            await server.performer.attached.wait(for: 1)
            let count = 10_000
            let transfers = (1...count).map { number in
                var transfer = WireSamples.transfer
                transfer.identifier = number
                return transfer
            }
            server.performer.send(.attached(SessionState(nextIdentifier: count + 1, transfers: transfers)))
            for number in 1...count { server.performer.send(.ended(number, WireSamples.end)) }
            server.performer.send(.deliveredEarlierEvents)
            await server.run {}
            let result = try await onThread {
                var (transfers, ends, longest) = (0, 0, 0)
                while let message = program.readOne() {
                    if message.contains("deliveredEarlierEvents") { break }
                    transfers += message.contains("TransferMessage.transfer(") ? 1 : 0
                    ends += message.contains("ended(") ? 1 : 0
                    longest = max(longest, program.mostPending)
                }
                return (transfers, ends, longest)
            }
            #expect(result.0 == count)
            #expect(result.1 == count)
            #expect(result.2 < 1 << 20)
            server.performer.send(.ended(1, WireSamples.end))
            #expect(try await onThread { program.readOne() }?.contains("ended(1") == true)
        }
    }
}
