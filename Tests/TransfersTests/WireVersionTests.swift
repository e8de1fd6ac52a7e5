import Foundation
import LoadingKitCore
import LoadingKitTransfers
import Testing

@Suite struct WireVersionTests {
    @Test func theNewestVersionThatBothSpeakIsSpoken() {
        let newer = WireVersion(lowest: 1, highest: 2)
        #expect(WireVersion(lowest: 1, highest: 1).common(with: newer) == 1)
        #expect(newer.common(with: WireVersion(lowest: 1, highest: 1)) == 1)
        #expect(newer.common(with: WireVersion(lowest: 2, highest: 5)) == 2)
        #expect(newer.common(with: WireVersion(lowest: 3, highest: 5)) == nil)
        #expect(WireVersion(lowest: 3, highest: 5).common(with: newer) == nil)
    }

    @Test func versionsOfTheLibraryAreCompared() {
        #expect(WireVersion.isLibrary("0.2.0", newerThan: "0.1.9"))
        #expect(WireVersion.isLibrary("0.10", newerThan: "0.9.1"))
        #expect(WireVersion.isLibrary("1", newerThan: "0.9.1"))
        #expect(!WireVersion.isLibrary("0.1.0", newerThan: "0.1"))
        #expect(!WireVersion.isLibrary("0.1", newerThan: "0.1.0"))
        #expect(!WireVersion.isLibrary("", newerThan: "x.y"))
        #expect(!WireVersion.isLibrary("99999999999999999999999", newerThan: "0.1"))
    }

    /// What a build of version 1 has sent is read in the same way by each later one.
    @Test func messagesOfVersion1AreRead() throws {
        let recorded = WireVersion1.messages
        #expect(Set(recorded.map(\.kind)) == Set(MessageKind.allCases.map(\.rawValue)))
        for (message, record) in zip(WireSamples.messages, recorded) {
            let frame = try MessageFrame(kind: record.kind, payload: Array(record.json.utf8))
            let reading = WireReading(frame.bytes, afterHello: true)
            #expect(reading.messages == ["0: \(ReceivedMessage.message(message))"])
        }
        #expect(recorded.count == WireSamples.messages.count)
    }

    // MARK: A later version's messages

    @Test func aKindOfALaterVersionIsPassedOver() throws {
        let bytes =
            try MessageFrame(kind: 999, payload: Array("[1,2]".utf8)).bytes
            + MessageFrame(kind: 998, payload: Array(#"{"number":12,"x":[]}"#.utf8)).bytes
            + MessageFrame(kind: 997, payload: [0xFF, 0xFE]).bytes + MessageFrame(.overviewEnd(number: 3)).bytes
        let reading = WireReading(bytes, afterHello: true)
        #expect(reading.error == nil)
        #expect(
            reading.messages == [
                "0: \(ReceivedMessage.unknown(kind: 999, number: nil))",
                "0: \(ReceivedMessage.unknown(kind: 998, number: 12))",
                "0: \(ReceivedMessage.unknown(kind: 997, number: nil))",
                "0: \(ReceivedMessage.message(.overviewEnd(number: 3)))",
            ])
    }

    @Test func aCommandOfALaterVersionKeepsItsNumber() throws {
        for kind in [MessageKind.command, .control] {
            let json = #"{"number":5,"session":"s","content":{"explode":{"_0":1}}}"#
            let frame = try MessageFrame(kind: kind.rawValue, payload: Array(json.utf8))
            let reading = WireReading(frame.bytes, afterHello: true)
            #expect(reading.messages == ["0: \(ReceivedMessage.unknown(kind: kind.rawValue, number: 5))"])
        }
    }

    @Test func anEventOfALaterVersionIsPassedOver() throws {
        let frame = try MessageFrame(kind: MessageKind.event.rawValue, payload: Array(#"{"sang":{"_0":1}}"#.utf8))
        let reading = WireReading(frame.bytes, afterHello: true)
        #expect(
            reading.messages == ["0: \(ReceivedMessage.unknown(kind: MessageKind.event.rawValue, number: nil))"])
    }

    @Test func keysOfALaterVersionArePassedOver() throws {
        let json = #"""
            {"versions":{"lowest":1,"highest":9,"middle":5},"library":"7.0","process":1,"mood":{"is":["good"]}}
            """#
        let frame = try MessageFrame(kind: MessageKind.hello.rawValue, payload: Array(json.utf8))
        let hello = TransferMessage.Hello(versions: WireVersion(lowest: 1, highest: 9), library: "7.0", process: 1)
        #expect(WireReading(frame.bytes).messages == ["0: \(ReceivedMessage.message(.hello(hello)))"])
    }

    @Test func aMessageThatIsNoneIsMalformed() throws {
        for kind in MessageKind.allCases {
            let frame = try MessageFrame(kind: kind.rawValue, payload: Array("{\"number\":".utf8))
            #expect(WireReading(frame.bytes, afterHello: true).error == .malformed(kind: kind.rawValue))
        }
    }

    @Test func deeplyNestedMessagesAreRefused() throws {
        let json = String(repeating: "[", count: 30_000)
        let frame = try MessageFrame(kind: MessageKind.hello.rawValue, payload: Array(json.utf8))
        #expect(WireReading(frame.bytes).error == .malformed(kind: MessageKind.hello.rawValue))
    }
}
