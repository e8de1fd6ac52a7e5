import Foundation
import LoadingKitCore
import TestSupport
import Testing

@testable import LoadingKitHTTP

/// Inputs in each state, and random ones.
@Suite("An upload's state")
struct UploadStateTests {
    private static let resource = URL(string: "https://example.org/uploads/1") ?? URL(fileURLWithPath: "/")

    private struct Broken: Error {}

    private static func state(total: Int64? = 100_000) -> UploadState {
        var state = UploadState(total: total, isDivisible: total != nil, resumption: nil)
        _ = state.begin()
        var offer = UploadAnswer(status: 104)
        offer.location = .resource(resource)
        state.receive(interim: offer)
        return state
    }

    private static func answer(
        _ status: Int, offset: Int64? = nil, isComplete: Bool? = nil, limits: UploadLimits? = nil
    ) -> UploadAnswer {
        var answer = UploadAnswer(status: status)
        (answer.offset, answer.isComplete, answer.limits) = (offset, isComplete, limits)
        return answer
    }

    private static func retrieving() -> UploadState {
        var state = state()
        _ = state.requestDidFail(Broken(), isInterruption: true)
        return state
    }

    private static func appending(limits: UploadLimits? = nil) -> UploadState {
        var state = retrieving()
        _ = state.receive(answer(204, offset: 20_000, isComplete: false, limits: limits), isSent: true)
        return state
    }

    /// The action after a response, in a word.
    private static func text(_ verdict: UploadState.Verdict) -> String {
        switch verdict {
        case .deliver: "deliver"
        case .discard(let action): text(action)
        }
    }

    private static func text(_ action: UploadState.Action) -> String {
        switch action {
        case .nothing: "nothing"
        case .create: "create"
        case .retrieve: "retrieve"
        case .append(let part): "append \(part.offset)+\(part.count.map { "\($0)" } ?? "?")\(part.isLast ? "." : "")"
        case .pause(let seconds): "pause \(seconds)"
        case .fail(let error): (error as? LoadFailure).map { "fail \($0.code.rawValue)" } ?? "fail"
        }
    }

    @Test(
        "gives the program what the server made of the body",
        arguments: [
            (200, nil, true, "deliver"), (404, nil, false, "deliver"), (500, nil, true, "deliver"),
            (500, nil, false, "retrieve"), (503, nil, true, "retrieve"), (503, true, true, "deliver"),
            (200, false, true, "retrieve"), (413, nil, false, "deliver"),
        ] as [(Int, Bool?, Bool, String)])
    func created(_ status: Int, _ isComplete: Bool?, _ isSent: Bool, _ next: String) {
        var state = Self.state()
        let verdict = state.receive(Self.answer(status, isComplete: isComplete), isSent: isSent)
        #expect(Self.text(verdict) == next)
        #expect((state.resource == nil) == (next == "deliver"))
        var plain = UploadState(total: 5, isDivisible: true, resumption: nil)
        _ = plain.begin()
        #expect(Self.text(plain.receive(Self.answer(status), isSent: isSent)) == "deliver", "no 104 was received")
    }

    @Test(
        "goes on from what the server has",
        arguments: [
            (204, 0, false, "append 0+100000."), (204, 50_000, nil, "append 50000+50000."),
            (204, 100_001, false, "fail -1011"),
            (204, nil, false, "fail -1011"), (204, 100_000, true, "deliver"), (204, nil, true, "deliver"),
            (200, 99_999, true, "fail -1011"), (404, nil, nil, "fail"), (308, nil, nil, "fail"),
            (401, nil, nil, "fail -1013"),
            (503, nil, nil, "pause 0.5"), (409, nil, nil, "pause 0.5"),
        ] as [(Int, Int64?, Bool?, String)])
    func retrieved(_ status: Int, _ offset: Int64?, _ isComplete: Bool?, _ next: String) {
        var state = Self.retrieving()
        #expect(
            Self.text(state.receive(Self.answer(status, offset: offset, isComplete: isComplete), isSent: true)) == next)
    }

    @Test(
        "goes on from resume data, or says why not",
        arguments: [
            (204, nil, "append 20000+80000.", true), (204, 100_000, "append 20000+80000.", true),
            (204, 99_999, "fail -1011", false), (404, nil, "fail -1008", false), (410, nil, "fail -1008", false),
            (308, nil, "fail -1008", false), (401, nil, "fail -1013", true), (407, nil, "fail -1013", true),
            (408, nil, "retrieve", true), (503, nil, "retrieve", true),
        ] as [(Int, Int64?, String, Bool)])
    func resumed(_ status: Int, _ length: Int64?, _ next: String, _ mayGoOn: Bool) {
        let resumption = UploadResumption(URLRequest(url: Self.resource), goingOnAt: Self.resource)
        var state = UploadState(total: 100_000, isDivisible: true, resumption: resumption)
        _ = state.begin()
        var answer = Self.answer(status, offset: 20_000)
        answer.length = length
        #expect(Self.text(state.receive(answer, isSent: true)) == next)
        #expect((state.resource != nil) == mayGoOn)
    }

    @Test(
        "ends with the response to the last part",
        arguments: [
            (200, nil, "deliver"), (200, true, "deliver"), (500, true, "deliver"), (422, nil, "deliver"),
            (404, nil, "deliver"), (200, false, "pause 0.5"), (409, nil, "pause 0.5"), (503, nil, "pause 0.5"),
        ] as [(Int, Bool?, String)])
    func appended(_ status: Int, _ isComplete: Bool?, _ next: String) {
        var state = Self.appending()
        // Twenty thousand bytes are progress, and the pauses began anew.
        _ = state.requestDidFail(Broken(), isInterruption: true)
        _ = state.receive(Self.answer(204, offset: 20_000), isSent: true)
        #expect(Self.text(state.receive(Self.answer(status, isComplete: isComplete), isSent: true)) == next)
    }

    @Test(
        "fails where the server has refused the last part and has all of it",
        arguments: [
            (500, true, "fail -1011"), (501, true, "fail -1011"), (599, true, "fail -1011"), (500, false, "deliver"),
            (502, true, "deliver"), (504, true, "deliver"), (409, true, "deliver"),
        ] as [(Int, Bool, String)])
    func refused(_ status: Int, _ isSent: Bool, _ next: String) {
        let complete = Self.answer(204, offset: 100_000, isComplete: true)
        var state = Self.appending()
        #expect(Self.text(state.receive(Self.answer(status), isSent: isSent)) == "retrieve")
        var later = state
        #expect(Self.text(state.receive(complete, isSent: true)) == next)
        #expect(state.resource == nil)
        // The refusal is not that of a part that is sent after it.
        #expect(Self.text(later.receive(Self.answer(204, offset: 50_000), isSent: true)) == "append 50000+50000.")
        _ = later.requestDidFail(Broken(), isInterruption: true)
        #expect(Self.text(later.receive(complete, isSent: true)) == "deliver")
        // Nor is that of another part than the last.
        var parts = Self.appending(limits: UploadLimits(maxAppendSize: 40_000))
        _ = parts.receive(Self.answer(status), isSent: isSent)
        #expect(Self.text(parts.receive(complete, isSent: true)) == "deliver")
    }

    @Test("sends parts of the size that the server takes")
    func parts() {
        var state = Self.appending(limits: UploadLimits(maxAppendSize: 40_000))
        #expect(state.step == .appending(.init(offset: 20_000, count: 40_000, isLast: false)))
        #expect(Self.text(state.receive(Self.answer(204, isComplete: false), isSent: true)) == "append 60000+40000.")
        // A smaller limit is heeded, too; not one that would make too many parts.
        let smaller = Self.answer(413, limits: UploadLimits(maxAppendSize: 30_000))
        #expect(Self.text(state.receive(smaller, isSent: false)) == "retrieve")
        #expect(Self.text(state.receive(Self.answer(204, offset: 60_000), isSent: true)) == "append 60000+30000")
        #expect(
            Self.text(state.receive(Self.answer(413, limits: UploadLimits(maxAppendSize: 9)), isSent: false))
                == "deliver")
    }

    @Test("heeds limits as soon as it knows them")
    func limitsBefore() {
        for (limits, next) in [
            (UploadLimits(maxSize: 99_999), "fail -1103"), (UploadLimits(maxAppendSize: 99_999), "retrieve"),
            (UploadLimits(maxSize: 100_000, maxAppendSize: 100_000), "nothing"),
            (UploadLimits(maxAppendSize: 0), "nothing"),
        ] {
            var state = UploadState(total: 100_000, isDivisible: true, resumption: nil)
            _ = state.begin()
            var offer = Self.answer(104, limits: limits)
            offer.location = .resource(Self.resource)
            state.receive(interim: offer)
            #expect(Self.text(state.heedLimits()) == next)
        }
    }

    @Test(
        "judges a response that was received with the limits as one to the whole body",
        arguments: [
            (413, nil, nil, "retrieve", "fail -1103"), (200, nil, nil, "deliver", "deliver"),
            (200, true, nil, "deliver", "deliver"), (413, true, nil, "deliver", "deliver"),
            (200, false, nil, "retrieve", "retrieve"), (404, nil, nil, "deliver", "fail -1103"),
            (413, nil, 30_000, "retrieve", "fail -1103"), (413, nil, 50_000, "retrieve", "fail -1103"),
        ] as [(Int, Bool?, Int64?, String, String)])
    func limitsWithResponse(
        _ status: Int, _ isComplete: Bool?, _ limit: Int64?, _ ofPart: String, _ ofAll: String
    ) {
        for (limits, next) in [
            (UploadLimits(maxAppendSize: 40_000), ofPart), (UploadLimits(maxSize: 5), ofAll),
        ] {
            var state = Self.state()
            state.receive(interim: Self.answer(104, limits: limits))
            let newLimits = limit.map { UploadLimits(maxAppendSize: $0) }
            let verdict = state.receive(Self.answer(status, isComplete: isComplete, limits: newLimits), isSent: true)
            #expect(Self.text(verdict) == next)
            #expect(Self.text(state.heedLimits()) == "nothing")
        }
    }

    @Test("a redirect, or the connection's end, that was received with the limits comes first")
    func limitsWithOtherEnds() {
        for limits in [UploadLimits(maxAppendSize: 40_000), UploadLimits(maxSize: 5)] {
            var state = Self.state()
            state.receive(interim: Self.answer(104, limits: limits))
            var lost = state
            let isOfRequest = state.receiveRedirect()
            #expect(isOfRequest)
            #expect(Self.text(state.heedLimits()) == "nothing")
            #expect(Self.text(state.receive(Self.answer(307), isSent: true)) == "deliver", "it is not followed")
            let next = Self.text(lost.requestDidFail(Broken(), isInterruption: true))
            #expect(next == (limits.maxSize == nil ? "retrieve" : "fail -1103"))
            #expect(Self.text(lost.heedLimits()) == "nothing")
        }
        var state = Self.retrieving()
        let isOfRequest = state.receiveRedirect()
        #expect(!isOfRequest && state.step == .retrieving)
    }

    @Test("heeds a 104 of versions that it speaks alone")
    func versions() {
        for (version, isHeeded) in [(nil, true), (6, true), (8, true), (3, false), (5, false), (9, false)]
            as [(Int64?, Bool)]
        {
            var state = UploadState(total: 5, isDivisible: true, resumption: nil)
            _ = state.begin()
            var offer = UploadAnswer(status: 104)
            (offer.location, offer.interopVersion) = (.resource(Self.resource), version)
            state.receive(interim: offer)
            #expect((state.resource != nil) == isHeeded, "\(version ?? 0)")
        }
        var state = Self.state()
        var elsewhere = UploadAnswer(status: 104)
        elsewhere.location = .elsewhere
        state.receive(interim: elsewhere)
        #expect(state.resource == nil)
    }

    @Test("gives up after four interruptions in a place, and where the server wants a long pause")
    func interruptions() {
        var state = Self.state()
        let pauses = (0..<5).map { _ in
            let text = Self.text(state.requestDidFail(Broken(), isInterruption: true))
            _ = state.pauseDidEnd()
            return text
        }
        #expect(pauses == ["retrieve", "pause 0.5", "pause 1.0", "pause 2.0", "fail"])
        #expect(state.resource != nil, "another task may go on")
        state = Self.retrieving()
        var busy = Self.answer(503)
        busy.retryAfter = 60
        #expect(Self.text(state.receive(busy, isSent: true)) == "pause 60.0")
        _ = state.pauseDidEnd()
        busy.retryAfter = 61
        #expect(Self.text(state.receive(busy, isSent: true)) == "fail -1011")
        state = Self.state()
        #expect(Self.text(state.requestDidFail(Broken(), isInterruption: false)) == "fail")
    }

    @Test(
        "Retry-After is a number or a date",
        arguments: [("7", 7), ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("+5", nil)] as [(String, Double?)])
    func retryAfter(_ text: String, _ seconds: Double?) throws {
        let fields = ["Retry-After": text]
        let response = try #require(
            HTTPURLResponse(url: Self.resource, statusCode: 503, httpVersion: nil, headerFields: fields))
        #expect(UploadAnswer(response, to: URLRequest(url: Self.resource)).retryAfter == seconds)
    }

    @Test("a server that takes few bytes of each request is not asked forever")
    func trickle() {
        var (state, requests) = (Self.state(total: 100_000_000), 0)
        var action = state.requestDidFail(Broken(), isInterruption: true)
        while requests < 1000 {
            requests += 1
            switch action {
            case .retrieve:
                _ = state.receive(Self.answer(204, offset: Int64(requests)), isSent: true)
                action = state.requestDidFail(Broken(), isInterruption: true)
            case .pause: action = state.pauseDidEnd()
            case .nothing, .create, .append, .fail: return #expect(requests < 20)
            }
        }
        #expect(Bool(false))
    }

    @Test("no input in any state makes it send what the server has, or what there is not")
    func randomInputs() {
        for seed in 0..<2000 {
            var random = SeededGenerator(seed: UInt64(seed))
            var state = UploadState(
                total: Bool.random(using: &random) ? 100_000 : nil, isDivisible: Bool.random(using: &random),
                resumption: nil)
            var server: Int64 = 0
            for _ in 0..<40 {
                let before = state.step
                let action: UploadState.Action
                switch Int.random(in: 0..<6, using: &random) {
                case 0: action = state.begin()
                case 1:
                    var offer = UploadAnswer(status: 104)
                    offer.location = Bool.random(using: &random) ? .resource(Self.resource) : .elsewhere
                    offer.limits =
                        Bool.random(using: &random)
                        ? UploadLimits(maxAppendSize: .random(in: 0...90_000, using: &random)) : nil
                    state.receive(interim: offer)
                    action = Bool.random(using: &random) ? state.heedLimits() : .nothing
                case 2, 3:
                    server = max(server, .random(in: 0...100_000, using: &random))
                    let status = [200, 204, 404, 409, 413, 500, 503].randomElement(using: &random) ?? 200
                    let verdict = state.receive(
                        Self.answer(
                            status, offset: Bool.random(using: &random) ? server : nil,
                            isComplete: [nil, true, false].randomElement(using: &random) ?? nil),
                        isSent: Bool.random(using: &random))
                    if case .discard(let next) = verdict { action = next } else { action = .nothing }
                case 4: action = state.requestDidFail(Broken(), isInterruption: Bool.random(using: &random))
                case _: action = state.pauseDidEnd()
                }
                switch action {
                case .append(let part):
                    #expect(part.offset >= 0 && part.offset <= state.total ?? .max)
                    #expect(state.step == .appending(part) && state.resource != nil)
                    if let total = state.total { #expect(part.offset + (part.count ?? 0) <= total) }
                    #expect(part.isLast || part.count ?? 0 > 0)
                case .retrieve: #expect(state.step == .retrieving && state.resource != nil)
                case .create: #expect(before == .new && state.step == .creating)
                case .pause: #expect(state.step == .pausing)
                case .fail: #expect(state.step == .over)
                case .nothing: break
                }
                if before == .over || before == .delivering { #expect(state.step == before || state.step == .over) }
            }
        }
    }
}
