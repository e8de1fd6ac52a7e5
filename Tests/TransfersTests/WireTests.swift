import Foundation
import LoadingKitCore
import LoadingKitTransfers
import TestSupport
import Testing

@Suite struct WireTests {
    @Test func eachMessageComesBackAsItWas() throws {
        for message in WireSamples.messages {
            let reading = WireReading(try MessageFrame(message, descriptorCount: 2).bytes, afterHello: true)
            #expect(reading.messages == ["2: \(ReceivedMessage.message(message))"])
            #expect(reading.error == nil)
        }
    }

    @Test func theCutsBetweenPiecesMakeNoDifference() throws {
        let bytes = try WireSamples.bytes()
        let whole = WireReading(bytes)
        #expect(whole.messages.count == WireSamples.messages.count)
        #expect(whole.error == nil)
        #expect(WireReading(bytes, cuts: Array(1..<bytes.count)) == whole)
        // Each split of some messages with the beginning of the next.
        var some: [UInt8] = []
        for message in WireSamples.messages.prefix(3) { some += try MessageFrame(message).bytes }
        some += [0, 0, 1]
        let read = WireReading(some)
        for cut in 0...some.count { #expect(WireReading(some, cuts: [cut]) == read) }
    }

    @Test func aMillionBytesInSmallPiecesAreLookedAtOnce() throws {
        var transfer = WireSamples.transfer
        transfer.request.body = Data(repeating: 7, count: 1 << 20)
        let bytes = try MessageFrame(.command(number: 1, .begin(transfer))).bytes
        let reading = WireReading(bytes, cuts: Array(stride(from: 100, to: bytes.count, by: 100)), afterHello: true)
        #expect(reading.error == nil)
        #expect(reading.messages.count == 1)
    }

    @Test func numbersThatAreNoneComeBack() throws {
        var transfer = WireSamples.transfer
        transfer.priority = .nan
        transfer.request.rules.timeout = .infinity
        let frame = try MessageFrame(.command(number: 1, .begin(transfer)))
        let reading = WireReading(frame.bytes, afterHello: true)
        #expect(reading.error == nil)
        #expect(reading.messages.first?.contains("priority: nan") == true)
    }

    // MARK: Limits

    @Test func theFirstMessageIsAGreeting() throws {
        for message in WireSamples.messages {
            let reading = WireReading(try MessageFrame(message).bytes)
            switch message {
            case .hello, .goodbye: #expect(reading.error == nil && reading.messages.count == 1)
            case _: #expect(reading.error == .noHello && reading.messages.isEmpty)
            }
        }
        let unknown = try MessageFrame(payload: Array(#"{"explode":{}}"#.utf8))
        #expect(WireReading(unknown.bytes).error == .noHello)
        #expect(WireReading(Array("GET / HTTP/1.1\r\n\r\n".utf8)).error == .messageTooLong(0x4745_5420))
    }

    @Test(arguments: [(false, 64 << 10), (true, 88 << 20)])
    func aMessageThatIsTooLongIsRefusedByItsHeader(_ afterHello: Bool, _ limit: Int) throws {
        let longest = WireReading(WireFrames.header(length: limit), afterHello: afterHello)
        #expect(longest == WireReading())
        let longer = WireReading(WireFrames.header(length: limit + 1), afterHello: afterHello)
        #expect(longer.error == .messageTooLong(limit + 1))
    }

    @Test func aMessageThatIsTooLongIsNotWritten() throws {
        let limit = WireLimits.message
        #expect(throws: WireError.messageTooLong(limit + 1)) {
            try MessageFrame(payload: repeatElement(32, count: limit + 1))
        }
    }

    @Test func descriptorsHaveALimit() {
        let limit = WireLimits.descriptors
        #expect(WireReading(WireFrames.header(length: 2, descriptors: limit), afterHello: true).error == nil)
        let more = WireReading(WireFrames.header(length: 2, descriptors: limit + 1), afterHello: true)
        #expect(more.error == .tooManyDescriptors(limit + 1))
        #expect(throws: WireError.tooManyDescriptors(limit + 1)) {
            try MessageFrame(.performed(number: 1, error: nil), descriptorCount: limit + 1)
        }
    }

    @Test func aReaderThatHasFailedStaysSo() throws {
        var reader = MessageReader()
        var reading = WireReading()
        reading.read(try MessageFrame(.performed(number: 1, error: nil)).bytes[...], &reader)
        #expect(reading.error == .noHello)
        let messages = reading.messages
        reading.read(try MessageFrame(WireSamples.messages[0]).bytes[...], &reader)
        #expect(reading.messages == messages)
        #expect(reader.pendingCount == 0)
    }

    @Test func aBodyOf64MiBFitsIntoACommand() throws {
        var transfer = WireSamples.transfer
        transfer.request.body = Data(repeating: 0xFF, count: 64 << 20)
        let frame = try MessageFrame(.command(number: 1, .begin(transfer)))
        #expect(frame.bytes.count > 85 << 20)
    }

    // MARK: Fuzz

    /// Each is accepted, or gives a typed error.
    @Test func mutatedMessagesEndNothing() throws {
        var generator = SeededGenerator(seed: 19)
        let frames = try WireSamples.messages.map { try MessageFrame($0).bytes }
        var (accepted, refused) = (0, 0)
        for _ in 0..<100_000 {
            guard var bytes = frames.randomElement(using: &generator) else { continue }
            for _ in 0..<Int.random(in: 1...4, using: &generator) { Self.mutate(&bytes, &generator) }
            let cut = Int.random(in: 0...bytes.count, using: &generator)
            if WireReading(bytes, cuts: [cut], afterHello: true).error == nil { accepted += 1 } else { refused += 1 }
        }
        #expect(accepted > 1000)
        #expect(refused > 1000)
    }

    private static func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        default: bytes.removeSubrange(place...)
        }
    }
}

/// Frames that a writer does not make.
enum WireFrames {
    static func header(length: Int, descriptors: Int = 0) -> [UInt8] {
        [length, descriptors].flatMap { number in withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } }
    }
}
