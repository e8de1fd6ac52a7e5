import Foundation
import LoadingKitEvents
import Testing

/// The parser, over every place where the bytes may be cut.
@Suite struct EventStreamParserTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var stream: [UInt8]
        var events: [ServerSentEvent]
        var lastEventID = ""
        var reconnectionTime: Int?
        var testDescription: String { String(decoding: stream, as: UTF8.self).debugDescription }

        init(_ stream: String, _ events: [ServerSentEvent], id: String = "", retry: Int? = nil) {
            self.init(Array(stream.utf8), events, id: id, retry: retry)
        }

        init(_ stream: [UInt8], _ events: [ServerSentEvent], id: String = "", retry: Int? = nil) {
            (self.stream, self.events, lastEventID, reconnectionTime) = (stream, events, id, retry)
        }
    }

    private static func data(_ texts: String...) -> [ServerSentEvent] { texts.map { ServerSentEvent(data: $0) } }

    static let cases: [Case] = [
        // The standard's examples (HTML §9.2.6).
        Case("data: YHOO\ndata: +2\ndata: 10\n\n", data("YHOO\n+2\n10")),
        Case(
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
            [ServerSentEvent(id: "1", data: "first event"), ServerSentEvent(data: "second event")]),
        Case("data\n\ndata\ndata\n\ndata:", data("", "\n")),
        Case("data:test\n\ndata: test\n\n", data("test", "test")),
        // Line ends.
        Case("data:a\rdata:b\r\rdata:c\r\n\r\ndata:d\n\n", data("a\nb", "c", "d")),
        Case("data:a\r\n\rdata:b\n\r\n", data("a", "b")),
        Case("data:a\u{0b}b\u{2028}c\u{85}d\n\n", data("a\u{0b}b\u{2028}c\u{85}d")),
        // The byte order mark, once, at the beginning.
        Case("\u{feff}data:a\n\n", data("a")), Case("\u{feff}\u{feff}data:a\n\n", []),
        Case([0xef, 0xbb] + Array("data:a\n\ndata:b\n\n".utf8), data("b")),
        Case([0xef, 0xbb, 0xbf], []), Case([0xef], []), Case("\n\u{feff}data:a\n\n", []),
        // Bytes that are not UTF-8.
        Case(Array("data:a".utf8) + [0xff, 0xe2, 0x82] + Array("\n\n".utf8), data("a\u{fffd}\u{fffd}")),
        Case("data:é😀\n\n", data("é😀")),
        // Fields.
        Case(
            "event: add\ndata: x\n\ndata: y\n\n",
            [ServerSentEvent(event: "add", data: "x"), ServerSentEvent(data: "y")]),
        Case("event: add\n\ndata: y\n\n", data("y")),
        Case("event:a\nevent:b\ndata\n\n", [ServerSentEvent(event: "b", data: "")]),
        Case("event\ndata:x\n\n", data("x")), Case("Data:x\ndata :x\n data:x\nunknown:x\n:data:x\n\n", []),
        Case("data:a:b:\n\n", data("a:b:")), Case("data:\ta\n\n", data("\ta")), Case("data: \n\n", data("")),
        Case("data:a\0b\n\n", data("a\0b")),
        // IDs stay, may be taken back, and have no NUL.
        Case(
            "id:1\ndata:a\n\ndata:b\n\nid:2\0\ndata:c\n\nid: 3\n\ndata:d\n\nid\ndata:e\n\n",
            [
                ServerSentEvent(id: "1", data: "a"), ServerSentEvent(id: "1", data: "b"),
                ServerSentEvent(id: "1", data: "c"), ServerSentEvent(id: "3", data: "d"), ServerSentEvent(data: "e"),
            ]),
        Case("id:1\n\n", [], id: "1"), Case("id:1\n", []), Case("id:1\n\nid:2\ndata:x\n", [], id: "1"),
        // Reconnection times.
        Case("retry:1500\ndata:x\n\n", [ServerSentEvent(data: "x", retry: 1500)], retry: 1500),
        Case("retry: 10\n", [], retry: 10), Case("retry:1.5\nretry:-1\nretry:1a\nretry:\nretry: ٣\n", []),
        Case("retry:007\nretry:x\n\n", [], retry: 7), Case("retry:99999999999999999999999\n\n", [], retry: .max),
        // Incomplete events.
        Case("", []), Case("data:x", []), Case("data:x\n", []), Case("data:x\r", []), Case("\n\n\r\r\n", []),
    ]

    @Test(arguments: cases) func theEventsAreThoseOfTheStandard(example: Case) throws {
        for cut in 0...example.stream.count {
            try Self.check(example, [Data(example.stream[..<cut]), Data(example.stream[cut...])])
        }
        try Self.check(example, example.stream.map { Data([$0]) })
    }

    private static func check(_ example: Case, _ pieces: [Data]) throws {
        var parser = EventStreamParser()
        var events: [ServerSentEvent] = []
        for piece in pieces { try parser.receive(piece, into: &events) }
        #expect(events == example.events, "\(pieces.map(\.count))")
        #expect(parser.lastEventID == example.lastEventID || !example.events.isEmpty)
        #expect(parser.lastEventID == example.events.last?.id ?? example.lastEventID)
        #expect(parser.reconnectionTime == example.reconnectionTime)
    }

    /// All cases that end with an event, one after the other, in pieces of random sizes.
    @Test func longStreamsAreReadAlikeWhereverTheyAreCut() throws {
        var stream: [UInt8] = []
        for number in 0..<300 {
            stream += Array("id:\(number)\r\ndata: é\(number)\rdata:\n\n:c\revent: e\ndata\r\n\r\n".utf8)
        }
        var whole = EventStreamParser()
        let expected = try whole.receive(Data(stream))
        #expect(expected.count == 600)
        for size in [1, 2, 3, 5, 7, 16, 61, 1024] {
            var parser = EventStreamParser()
            var events: [ServerSentEvent] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                try parser.receive(Data(stream[start..<min(start + size, stream.count)]), into: &events)
            }
            #expect(events == expected)
        }
    }

    /// In one piece, in which the next LF is far away, or there is none.
    @Test(arguments: ["", "data:y\n\n"]) func manyLinesWithoutLF(end: String) throws {
        let count = (1 << 20) / 8
        var parser = EventStreamParser()
        let events = try parser.receive(Data((String(repeating: "data:x\r\r", count: count) + end).utf8))
        #expect(events.count == count + (end.isEmpty ? 0 : 1))
        #expect(events.prefix(count).allSatisfy { $0.data == "x" } && events.last?.data == (end.isEmpty ? "x" : "y"))
    }

    @Test func theIDOfTheRequestStays() throws {
        var parser = EventStreamParser(lastEventID: "7")
        #expect(try parser.receive(Data("data:x\n\n".utf8)) == [ServerSentEvent(id: "7", data: "x")])
        #expect(parser.lastEventID == "7")
    }

    @Test func limitsAreKeptWhereverTheBytesAreCut() throws {
        var limits = EventStreamLimits()
        (limits.maximumLineSize, limits.maximumEventSize, limits.maximumIDSize) = (20, 30, 5)
        func error(_ text: String) -> EventStreamParseError? {
            let bytes = Array(text.utf8)
            var found: Set<EventStreamParseError?> = []
            for size in [1, 2, 3, 7, bytes.count] {
                var parser = EventStreamParser(limits: limits)
                var events: [ServerSentEvent] = []
                do throws(EventStreamParseError) {
                    for start in stride(from: 0, to: bytes.count, by: size) {
                        try parser.receive(Data(bytes[start..<min(start + size, bytes.count)]), into: &events)
                    }
                    found.insert(nil)
                } catch {
                    found.insert(error)
                }
            }
            #expect(found.count == 1)
            return found.first ?? nil
        }
        let fifteen = String(repeating: "x", count: 15)
        #expect(error("data:\(fifteen)\n\n") == nil)
        #expect(error("data:\(fifteen)x\n\n") == .lineTooLong(limit: 20))
        #expect(error(":\(fifteen)\(fifteen)") == .lineTooLong(limit: 20))
        #expect(error("data:\(fifteen)\ndata:\(fifteen.dropLast())\n\n") == nil)
        #expect(error("data:\(fifteen)\ndata:\(fifteen)\n\n") == .eventTooLong(limit: 30))
        #expect(error("id:12345\n\n") == nil && error("id:123456\n\n") == .idTooLong(limit: 5))
        for (error, setting) in [
            (EventStreamParseError.lineTooLong(limit: 20), "maximumLineSize"),
            (.eventTooLong(limit: 20), "maximumEventSize"),
            (.idTooLong(limit: 20), "maximumIDSize"),
        ] {
            let text = (error as any Error).localizedDescription
            #expect(text.contains("more than 20 bytes") && text.contains("raise EventStreamLimits.\(setting)"))
        }
        // The events before it are not lost.
        var parser = EventStreamParser(limits: limits)
        var events: [ServerSentEvent] = []
        #expect(throws: EventStreamParseError.self) {
            try parser.receive(Data("data:a\n\nid:123456\n\n".utf8), into: &events)
        }
        #expect(events == [ServerSentEvent(data: "a")])
    }
}
