import Testing

@testable import LoadingKitHTTP

/// The beginning of an HTTP/2 connection: each input in each state.
@Suite struct HTTP2OpeningTests {
    @Test(
        arguments: [
            (.unused, .used, false), (.used, .used, true), (.ready, .inUse, false), (.inUse, .inUse, true),
            (.answered, .answered, true),
        ] as [(HTTP2Opening, HTTP2Opening, Bool)])
    func aRequest(before: HTTP2Opening, after: HTTP2Opening, isReuse: Bool) {
        var opening = before
        #expect(opening.noteRequest() == isReuse)
        #expect(opening == after)
    }

    @Test(
        arguments: [
            (.unused, .ready), (.used, .inUse), (.ready, .ready), (.inUse, .inUse), (.answered, .answered),
        ] as [(HTTP2Opening, HTTP2Opening)])
    func settings(before: HTTP2Opening, after: HTTP2Opening) {
        var opening = before
        opening.noteSettings()
        #expect(opening == after)
        #expect(opening.hasSettings)
    }

    @Test(arguments: HTTP2Opening.allCases) func anAnswer(before: HTTP2Opening) {
        var opening = before
        #expect(opening.noteAnswer() == (before != .answered))
        #expect(opening == .answered)
        #expect(opening.hasAnswered && opening.hasSettings)
    }

    @Test func itBeginsUnused() {
        let opening = HTTP2Opening()
        #expect(opening == .unused && !opening.hasSettings && !opening.hasAnswered)
    }
}
