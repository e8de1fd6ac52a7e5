import Testing

@testable import LoadingKitHTTP

/// The life of an HTTP/2 connection: each input in each state, and what holds after any inputs.
@Suite struct HTTP2ConnectionLifeTests {
    typealias Life = HTTP2ConnectionLife

    struct Input: Sendable, CustomStringConvertible {
        let description: String
        /// Gives what is to be done, in words.
        let give: @Sendable (inout Life) -> String
    }

    private static func words(_ answer: Bool) -> String { answer ? "yes" : "no" }

    private static let inputs = [
        Input(description: "request") {
            $0.noteRequest().map { isReused in isReused ? "send, reused" : "send" } ?? "refuse"
        },
        Input(description: "keep") {
            $0.keep()
            return "-"
        },
        Input(description: "retire") {
            $0.retire()
            return "-"
        },
        Input(description: "close") { $0.close().map { closing in "\(closing)" } ?? "nothing" },
        Input(description: "settings") {
            $0.noteSettings()
            return "-"
        },
        Input(description: "answer") { $0.noteAnswer() ? "first" : "-" },
        Input(description: "GOAWAY") { $0.noteGoAway() ? "-" : "a refusal" },
        Input(description: "rest") { words($0.rest()) },
        Input(description: "rest ends") { words($0.endRest()) },
        Input(description: "read again") { words($0.readAgain()) },
        Input(description: "plan report") { words($0.planReport()) },
        Input(description: "take report") { words($0.takeReport()) },
        Input(description: "a stream ends") { "\($0.streamsEnd(isLast: false))" },
        Input(description: "the last stream ends") { "\($0.streamsEnd(isLast: true))" },
    ]

    private static let states: [Life] = [
        .idle(.ready),
        .idle(.answered),
        .active(.unused, Life.Work()),
        .active(.inUse, Life.Work(willReport: true)),
        .active(.answered, Life.Work(reading: .resting)),
        .active(.answered, Life.Work(reading: .readingOn)),
        .leaving(Life.Departure(isAfterGoAway: false, hasAnswered: false), Life.Work()),
        .leaving(
            Life.Departure(isAfterGoAway: true, hasAnswered: true), Life.Work(reading: .resting, willReport: true)),
        .closed,
    ]

    /// Under each state: the inputs, with what is to be done, and the state after them where it is another.
    private static let expected = """
        ## idle, ready
        request: send | active, inUse
        keep: -
        retire: - | leaving
        close: unannounced | closed
        settings: -
        answer: first | idle, answered
        GOAWAY: a refusal | leaving after GOAWAY
        rest: no
        rest ends: no
        read again: no
        plan report: no
        take report: no
        a stream ends: reportSlots
        the last stream ends: reportSlots
        ## idle, answered
        request: send, reused | active, answered
        keep: -
        retire: - | leaving, answered
        close: unannounced | closed
        settings: -
        answer: -
        GOAWAY: - | leaving after GOAWAY, answered
        rest: no
        rest ends: no
        read again: no
        plan report: no
        take report: no
        a stream ends: reportSlots
        the last stream ends: reportSlots
        ## active, unused
        request: send | active, used
        keep: - | idle, unused
        retire: - | leaving
        close: unannounced | closed
        settings: - | active, ready
        answer: first | active, answered
        GOAWAY: a refusal | leaving after GOAWAY
        rest: yes | active, unused, resting
        rest ends: no
        read again: no
        plan report: yes | active, unused, will report
        take report: no
        a stream ends: reportSlots
        the last stream ends: reportSlots
        ## active, inUse, will report
        request: send, reused
        keep: - | idle, inUse
        retire: - | leaving, will report
        close: unannounced | closed
        settings: -
        answer: first | active, answered, will report
        GOAWAY: a refusal | leaving after GOAWAY, will report
        rest: yes | active, inUse, resting, will report
        rest ends: no
        read again: no
        plan report: no
        take report: yes | active, inUse
        a stream ends: reportSlots
        the last stream ends: reportSlots
        ## active, answered, resting
        request: send, reused
        keep: - | idle, answered
        retire: - | leaving, answered, resting
        close: unannounced | closed
        settings: -
        answer: -
        GOAWAY: - | leaving after GOAWAY, answered, resting
        rest: no
        rest ends: yes | active, answered, readingOn
        read again: yes | active, answered
        plan report: yes | active, answered, resting, will report
        take report: no
        a stream ends: reportSlots
        the last stream ends: reportSlots
        ## active, answered, readingOn
        request: send, reused
        keep: - | idle, answered
        retire: - | leaving, answered, readingOn
        close: unannounced | closed
        settings: -
        answer: -
        GOAWAY: - | leaving after GOAWAY, answered, readingOn
        rest: no
        rest ends: no
        read again: no | active, answered
        plan report: yes | active, answered, readingOn, will report
        take report: no
        a stream ends: reportSlots
        the last stream ends: reportSlots
        ## leaving
        request: refuse
        keep: -
        retire: -
        close: unannounced | closed
        settings: -
        answer: first | leaving, answered
        GOAWAY: a refusal | leaving after GOAWAY
        rest: yes | leaving, resting
        rest ends: no
        read again: no
        plan report: yes | leaving, will report
        take report: no
        a stream ends: nothing
        the last stream ends: close
        ## leaving after GOAWAY, answered, resting, will report
        request: refuse
        keep: -
        retire: -
        close: afterGoAway | closed
        settings: -
        answer: -
        GOAWAY: -
        rest: no
        rest ends: yes | leaving after GOAWAY, answered, readingOn, will report
        read again: yes | leaving after GOAWAY, answered, will report
        plan report: no
        take report: yes | leaving after GOAWAY, answered, resting
        a stream ends: nothing
        the last stream ends: close
        ## closed
        request: refuse
        keep: -
        retire: -
        close: nothing
        settings: -
        answer: -
        GOAWAY: -
        rest: no
        rest ends: no
        read again: no
        plan report: no
        take report: no
        a stream ends: nothing
        the last stream ends: nothing
        """

    @Test func everyInputInEveryState() {
        let rows = Self.states.flatMap { state in
            ["## \(state)"]
                + Self.inputs.map { input in
                    var life = state
                    let answer = input.give(&life)
                    return "\(input): \(answer)" + (life == state ? "" : " | \(life)")
                }
        }
        let expected = Self.expected.split(separator: "\n").map(String.init)
        #expect(rows.count == expected.count)
        var state = ""
        for (row, expected) in zip(rows, expected) {
            if row.hasPrefix("## ") { state = row }
            #expect(row == expected, "\(state)")
        }
    }

    /// Whatever comes: what is closed stays so, what leaves takes no requests and does not come back, a rest is ended once, and
    /// a report that was planned is taken once, unless the connection has become idle or closed before.
    @Test(arguments: 0..<200 as Range<UInt64>) func randomInputs(seed: UInt64) throws {
        var random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        var life = Life()
        for _ in 0..<100 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let input = Self.inputs[Int(random >> 33) % Self.inputs.count]
            let before = life
            let answer = input.give(&life)
            if before.isClosed { #expect(life.isClosed) }
            if !before.isOpen {
                #expect(!life.isOpen)
                if input.description == "request" { #expect(answer == "refuse") }
            }
            if before.hasSettings { #expect(life.hasSettings) }
            #expect((life.reading == nil) == life.isClosed)
            if ["plan report", "take report", "read again"].contains(input.description) {
                var again = life
                let answer = input.give(&again)
                #expect(answer == "no" && again == life)
            }
        }
    }

    @Test func itBeginsActive() {
        let life = Life()
        #expect(life.isOpen && !life.isIdle && !life.hasSettings && life.reading == .flowing)
        #expect("\(life)" == "active, unused")
    }
}
