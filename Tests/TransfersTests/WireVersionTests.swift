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
        for (message, json) in zip(WireSamples.messages, WireVersion1.messages) {
            let reading = WireReading(try MessageFrame(payload: Array(json.utf8)).bytes, afterHello: true)
            #expect(reading.messages == ["0: \(ReceivedMessage.message(message))"])
        }
        #expect(WireVersion1.messages.count == WireSamples.messages.count)
    }

    // MARK: A later version's messages

    @Test func aMessageOfALaterVersionIsPassedOver() throws {
        let payloads = [#"{"explode":{"x":[1,2]}}"#, #"{"explode":{"number":12,"x":[]}}"#]
        let bytes =
            try payloads.flatMap { try MessageFrame(payload: Array($0.utf8)).bytes }
            + MessageFrame(.performed(number: 3, error: nil)).bytes
        let reading = WireReading(bytes, afterHello: true)
        #expect(reading.error == nil)
        #expect(
            reading.messages == [
                "0: \(ReceivedMessage.unknown(number: nil))", "0: \(ReceivedMessage.unknown(number: 12))",
                "0: \(ReceivedMessage.message(.performed(number: 3, error: nil)))",
            ])
    }

    @Test(arguments: [
        #"{"command":{"number":5,"_1":{"explode":{"_0":1}}}}"#,
        #"{"control":{"number":5,"session":"s","_2":{"explode":{"_0":1}}}}"#,
    ])
    func aCommandOfALaterVersionKeepsItsNumber(_ json: String) throws {
        let reading = WireReading(try MessageFrame(payload: Array(json.utf8)).bytes, afterHello: true)
        #expect(reading.messages == ["0: \(ReceivedMessage.unknown(number: 5))"])
    }

    @Test func anEventOfALaterVersionIsPassedOver() throws {
        let frame = try MessageFrame(payload: Array(#"{"event":{"_0":{"sang":{"_0":1}}}}"#.utf8))
        let reading = WireReading(frame.bytes, afterHello: true)
        #expect(reading.messages == ["0: \(ReceivedMessage.unknown(number: nil))"])
    }

    @Test func keysOfALaterVersionArePassedOver() throws {
        let json = #"""
            {"hello":{"_0":{"versions":{"lowest":1,"highest":9,"middle":5},"library":"7.0","process":1,"mood":["good"]}}}
            """#
        let frame = try MessageFrame(payload: Array(json.utf8))
        let hello = TransferMessage.Hello(versions: WireVersion(lowest: 1, highest: 9), library: "7.0", process: 1)
        #expect(WireReading(frame.bytes).messages == ["0: \(ReceivedMessage.message(.hello(hello)))"])
    }

    @Test(arguments: [
        "", "{", "[1,2]", "7", #"{"number":"#, #"{"a":{},"b":{}}"#, #"{"a":{"number":"b"}}"#, #"{"a":1}"#,
    ])
    func aMessageThatIsNoneIsMalformed(_ text: String) throws {
        let frame = try MessageFrame(payload: Array(text.utf8))
        #expect(WireReading(frame.bytes, afterHello: true).error == .malformed)
        #expect(WireReading(try MessageFrame(payload: [0xFF, 0xFE]).bytes, afterHello: true).error == .malformed)
    }

    @Test func deeplyNestedMessagesAreRefused() throws {
        let json = String(repeating: "[", count: 30_000)
        #expect(WireReading(try MessageFrame(payload: Array(json.utf8)).bytes).error == .malformed)
    }
}
