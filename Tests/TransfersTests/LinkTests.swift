import Foundation
import LoadingKitCore
import LoadingKitTransfers
import LoadingKitTransport
import TestSupport
import Testing

@Suite struct LinkTests {
    private static let hello = TransferMessage.hello(TransferMessage.Hello(process: 1))

    @Test func messagesComeThroughInOrder() async throws {
        try await withTimeout {
            let ends = try LinkEnds()
            try await ends.start()
            #expect(ends.write(try WireSamples.bytes()) > 0)
            await ends.owner.events.wait(for: WireSamples.messages.count)
            #expect(ends.owner.messages == WireSamples.messages.map { "\(ReceivedMessage.message($0))" })
            #expect(ends.owner.end == nil)
        }
    }

    @Test func thePeersEndIsTheLinks() async throws {
        try await withTimeout {
            let ends = try LinkEnds()
            try await ends.start()
            _ = ends.write(try MessageFrame(Self.hello).bytes + [0, 0])
            shutdown(ends.plain, Int32(SHUT_RDWR))
            await ends.owner.events.wait(for: 2)
            #expect(ends.owner.messages.count == 1)
            #expect(ends.owner.end == .closedByPeer)
            #expect(try await ends.run { $0.isOpen } == false)
        }
    }

    @Test func garbageClosesTheLink() async throws {
        try await withTimeout {
            let ends = try LinkEnds()
            try await ends.start()
            _ = ends.write(Array("GET / HTTP/1.1\r\n\r\n".utf8))
            await ends.owner.events.wait(for: 1)
            #expect(ends.owner.end == .messageTooLong(0x4745_5420))
        }
    }

    // MARK: Descriptors

    @Test func descriptorsComeWithTheirMessage() async throws {
        try await withTimeout {
            let ends = try LinkEnds()
            try await ends.start()
            let files = try (0..<3).map { try Self.file("content \($0)") }
            _ = ends.write(try MessageFrame(Self.hello).bytes)
            for (index, file) in files.enumerated() {
                let command = TransferMessage.command(number: UInt64(index), .suspend(index))
                let bytes = try MessageFrame(command, descriptorCount: index + 1).bytes
                // The first byte alone has the descriptors.
                let descriptors = Array(repeating: file.fileDescriptor, count: index + 1)
                _ = ends.write(Array(bytes.prefix(1)), descriptors: descriptors)
                _ = ends.write(Array(bytes.dropFirst()))
            }
            await ends.owner.events.wait(for: 4)
            let received = ends.owner.takeDescriptors()
            #expect(received.map(\.count) == [0, 1, 2, 3])
            for (index, descriptors) in received.dropFirst().enumerated() {
                for descriptor in descriptors {
                    #expect(fcntl(descriptor.number, F_GETFD) == FD_CLOEXEC)
                    #expect(Self.content(descriptor.number) == "content \(index)")
                }
            }
            #expect(ends.owner.end == nil)
        }
    }

    @Test(arguments: [0, 2, 5, 17, 100])
    func descriptorsThatWereNotAnnouncedCloseTheLink(_ count: Int) async throws {
        try await withTimeout {
            let ends = try LinkEnds()
            try await ends.start()
            let name = "case \(count) not announced"
            let file = try Self.file(name)
            _ = ends.write(try MessageFrame(Self.hello).bytes)
            let bytes = try MessageFrame(.command(number: 1, .suspend(1)), descriptorCount: 1).bytes
            _ = ends.write(bytes, descriptors: Array(repeating: file.fileDescriptor, count: count))
            await ends.owner.closed.wait(for: 1)
            #expect(ends.owner.end == .wrongDescriptors)
            // When the turn is over that has closed the link, it holds none.
            try await ends.run { _ in }
            _ = ends.owner.takeDescriptors()
            try file.close()
            // What was received is closed.
            #expect(DescriptorList.named(name) == 0)
        }
    }

    @Test func descriptorsAreSentWithTheirMessage() async throws {
        try await withTimeout {
            let (one, other) = (try LinkEnds(), try LinkEnds())
            _ = other
            try await one.start()
            let file = try Self.file("sent")
            let copy = OwnedDescriptor(dup(file.fileDescriptor))
            try await one.run { link in
                try link.send(Self.hello)
                try link.send(.command(number: 1, .suspend(1)), [copy])
            }
            let first = try MessageFrame(Self.hello).bytes
            #expect(one.read(first.count) == first)
            let (bytes, descriptors) = PlainSocket.receive(one.plain)
            #expect(bytes == (try MessageFrame(.command(number: 1, .suspend(1)), descriptorCount: 1).bytes))
            #expect(descriptors.count == 1)
            for descriptor in descriptors {
                #expect(Self.content(descriptor) == "sent")
                close(descriptor)
            }
        }
    }

    // MARK: A peer that does not read

    @Test func aPeerThatDoesNotReadIsCutOff() async throws {
        try await withTimeout {
            let ends = try LinkEnds(waitingLimit: 1 << 20)
            try await ends.start()
            let sent = try await ends.run { link in
                var count = 0
                while link.isOpen, count < 1_000_000 {
                    try link.send(.event(.willBegin(count)))
                    count += 1
                }
                return count
            }
            #expect(sent > 1000 && sent < 1_000_000)
            #expect(ends.owner.end == .peerReadsNothing)
        }
    }

    @Test func progressThatIsNotReadIsReplaced() async throws {
        try await withTimeout {
            let ends = try LinkEnds()
            try await ends.start()
            try await ends.run { link in
                try link.send(.hello(TransferMessage.Hello(process: 1)))
                var count = 0
                // Until the socket takes no more.
                while link.waitingCount == 0 {
                    try link.send(.event(.willBegin(count)))
                    count += 1
                }
                let waiting = link.waitingCount
                for received in 1...100_000 {
                    var progress = TransferProgress()
                    progress.received = Int64(received)
                    try link.send(.event(.progress(received % 2, progress)))
                }
                #expect(link.waitingCount == waiting)
                try link.send(.event(.ended(0, WireSamples.end)))
                link.finish()
            }
            var bytes: [UInt8] = []
            while case let more = ends.read(1 << 16), !more.isEmpty { bytes += more }
            let reading = WireReading(bytes)
            #expect(reading.error == nil)
            let said = reading.messages.filter { $0.contains("progress(") || $0.contains("ended(") }
            #expect(said.count == 2)
            #expect(said.first?.contains("ended(0") == true)
            #expect(said.last?.contains("received: 99999") == true)
        }
    }

    @Test func aTransferThatIsTooLongComesWithoutItsBody() async throws {
        try await withTimeout {
            let ends = try LinkEnds()
            try await ends.start()
            var transfer = WireSamples.transfer
            transfer.request.body = Data(count: WireLimits.message / 4 * 3 + 1)
            try await ends.run { [transfer] link in
                try link.send(.hello(TransferMessage.Hello(process: 1)))
                link.send(list: [.transfer(transfer)])
                link.finish()
            }
            var bytes: [UInt8] = []
            while case let more = ends.read(1 << 16), !more.isEmpty { bytes += more }
            transfer.request.body = nil
            #expect(WireReading(bytes).messages.last == "0: \(ReceivedMessage.message(.transfer(transfer)))")
        }
    }

    @Test func aLinkThatIsPausedReadsLater() async throws {
        try await withTimeout {
            let ends = try LinkEnds()
            try await ends.run { link in
                link.isPaused = true
                link.start()
            }
            _ = ends.write(try MessageFrame(Self.hello).bytes)
            #expect(try await ends.run { _ in ends.owner.messages } == [])
            try await ends.run { $0.isPaused = false }
            await ends.owner.events.wait(for: 1)
            #expect(ends.owner.messages.count == 1)
        }
    }

    @Test func whatWaitsIsSentBeforeTheLinkCloses() async throws {
        try await withTimeout {
            let ends = try LinkEnds()
            try await ends.start()
            var transfer = WireSamples.transfer
            transfer.request.body = Data(repeating: 1, count: 2 << 20)
            let frame = try MessageFrame(.command(number: 1, .begin(transfer)))
            try await ends.run { [transfer] link in
                try link.send(.command(number: 1, .begin(transfer)))
                link.finish()
                try link.send(.performed(number: 1, error: nil))
            }
            var bytes: [UInt8] = []
            while case let more = ends.read(1 << 16), !more.isEmpty { bytes += more }
            #expect(bytes == frame.bytes)
            #expect(ends.owner.end == nil)
        }
    }

    @Test(arguments: [SystemCalls.Name.recvmsg, .sendmsg])
    func aFailingCallClosesTheLink(_ name: SystemCalls.Name) async throws {
        try await withTimeout {
            let ends = try LinkEnds()
            let plan = FaultPlan(name, .nth(1), .fail(ENOMEM))
            ends.loop.attach(plan)
            try await ends.run { link in
                try link.send(Self.hello)
                link.start()
            }
            await ends.owner.events.wait(for: 1)
            #expect(ends.owner.end == .failed(SystemCallFailure(name: name, code: ENOMEM)))
            #expect(plan.injectedCount == 1)
            ends.loop.attach(nil)
        }
    }

    /// Short calls move messages byte by byte.
    @Test func shortCallsMakeNoDifference() async throws {
        try await withTimeout {
            let ends = try LinkEnds()
            ends.loop.attach(FaultPlan([.init(.recvmsg, .from(1), .short(7)), .init(.sendmsg, .from(1), .short(7))]))
            try await ends.start()
            let bytes = try WireSamples.bytes()
            _ = ends.write(bytes)
            await ends.owner.events.wait(for: WireSamples.messages.count)
            #expect(ends.owner.messages == WireSamples.messages.map { "\(ReceivedMessage.message($0))" })
            try await ends.run { link in
                for message in WireSamples.messages { try link.send(message) }
                link.finish()
            }
            var echoed: [UInt8] = []
            while case let more = ends.read(1 << 16), !more.isEmpty { echoed += more }
            // How far the transfer came is not said when its end is.
            let expected = WireReading(bytes).messages.filter {
                !$0.contains("event(LoadingKitCore.TransferEvent.progress(")
            }
            #expect(WireReading(echoed).messages == expected)
            ends.loop.attach(nil)
        }
    }

    private static func file(_ content: String) throws -> FileHandle {
        let folder = try TemporaryFolder()
        return try FileHandle(forReadingFrom: folder.write(content, to: content.replacing(" ", with: "-")))
    }

    private static func content(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}
