import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitHAR
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitInspector

/// What the inspector keeps, and what it holds while no page is there.
@Suite(.timeLimit(.minutes(5))) struct InboxTests {
    private let inbox = TrafficInbox()

    /// Whether a page is open, and the number of events that are kept of many.
    @Test(arguments: [(false, 8_192), (true, 20_000)]) func events(_ isWatched: Bool, _ count: Int) {
        inbox.set(isWatched: isWatched)
        let session = SessionIdentity()
        let event = SessionEventRecord(time: MonotonicTime(nanoseconds: 0), event: .loadBegan)
        for _ in 0..<20_000 { inbox.session(session, did: event, detail: "") }
        let taken = inbox.take()
        #expect(taken.inputs.count == count && taken.hasDropped == (count < 20_000))
        #expect(inbox.take().inputs.isEmpty)
    }

    /// A program may make a session for each load.
    @Test func sessions() {
        let sessions = (0..<3_000).map { _ in SessionIdentity() }
        for session in sessions { inbox.add(TrafficInbox.Session(identity: session, name: "default")) }
        let taken = inbox.take().sessions
        #expect(taken.map(\.identity) == sessions.suffix(1_000))
    }

    private func heldLoad(_ holds: HoldRecorder, _ decisions: Recorder<String>) -> HeldLoad {
        let shown = ShownMessage(
            line: .request(method: "GET", url: "http://h/"), fields: [], body: [], bodyNote: "",
            redactor: holds.redactor)
        return HeldLoad(
            number: holds.makeNumber(), session: SessionIdentity(), task: 1, request: shown, response: nil
        ) { decision in
            if case .proceed(nil) = decision { decisions.append("proceed") } else { decisions.append("other") }
        }
    }

    /// Secrets are not found in a coded body: the page does not get it, and cannot change it.
    @Test(arguments: [("gzip", false, false), ("gzip", true, true), ("identity", false, true)])
    func codedBodies(_ coding: String, _ isDecoded: Bool, _ isShown: Bool) throws {
        func shown(_ redaction: HARRedaction) -> ShownMessage {
            ShownMessage(
                .response(status: 200), [("content-encoding", coding)], body: Array("body".utf8), bodyNote: "",
                isDecoded: isDecoded, Redactor(redaction))
        }
        let message = shown(.standard)
        #expect((message.value["body"]?["text"] == "body") == isShown && message.bodyNote.isEmpty == isShown)
        let unchanged = try message.edited(["status": 201, "headers": [], "body": .null])
        #expect(unchanged.body == (isShown ? Array("body".utf8) : nil))
        #expect(shown(.none).value["body"]?["text"] == "body")
    }

    /// A load that is held in the moment in which the last page is closed goes on.
    @Test func withoutAPageNothingIsHeld() {
        let holds = HoldRecorder(Redactor(.standard), inbox)
        let decisions = Recorder<String>()
        holds.didHold(heldLoad(holds, decisions))
        #expect(decisions.snapshot == ["proceed"] && inbox.take().inputs.isEmpty)
        holds.set(isWatched: true)
        let held = heldLoad(holds, decisions)
        holds.didHold(held)
        #expect(decisions.count == 1 && holds.held(held.number) === held)
        holds.releaseAll()
        #expect(decisions.snapshot == ["proceed", "proceed"])
        holds.didRelease(held)
        holds.didRelease(held)
        #expect(holds.held(held.number) == nil && inbox.take().inputs.count == 2)
    }

    /// Delivers a body a byte at a time, and notes the time that each quarter of it takes.
    private final class Drip: LoadRecorder, LoopHandler {
        static let quarter = 100_000
        let times = Recorder<Double>()

        func load(
            _ request: URLRequest, _ resources: LoadResources, by make: @escaping (URLRequest) throws -> any LoopHandler
        ) throws -> any LoopHandler { self }

        func record(
            _ metrics: URLSessionTaskMetrics, _ error: (any Error)?, ofTask task: Int, from firstURL: URL?,
            in session: SessionIdentity
        ) {}

        func flush(_ done: @escaping @Sendable () -> Void) { done() }

        func begin(_ receiver: any LoadReceiver) {
            let url = URL(string: "http://localhost/") ?? URL(fileURLWithPath: "/")
            guard let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil) else {
                return
            }
            _ = receiver.receive(head)
            for _ in 0..<4 {
                let time = ThreadTime.of {
                    for _ in 0..<Self.quarter { withUnsafeBytes(of: UInt8(ascii: "x")) { _ = receiver.receive($0) } }
                }
                times.append(time)
            }
            receiver.finish()
        }

        func end() {}
        func receiverDidBlock() {}
        func receiverDidBecomeReady() {}
    }

    /// The body of a held response is not copied for each piece.
    @Test func aBodyInSmallPieces() async throws {
        let (holds, drip) = (HoldRecorder(Redactor(.standard), inbox), Drip())
        holds.set([try #require(HoldRule(["id": "1", "stage": "response", "words": "localhost"]))])
        holds.set(isWatched: true)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.settings.recorders = [holds, drip]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "http://localhost/"))
        async let loaded = session.data(from: url)
        try await waitUntil { holds.held(1) != nil }
        holds.held(1)?.decide(.proceed(nil))
        let (data, _) = try await loaded
        #expect(data.count == 4 * Drip.quarter)
        let times = drip.times.snapshot
        // With the copies the last quarter would take seven times as long as the first one.
        #expect(times.count == 4 && times.last ?? 0 < 4 * (times.first ?? 0), "\(times)")
    }

    /// Delivers a coded body in two parts, of which the first is too long to be held as a whole, and then fails.
    private final class CodedParts: LoadRecorder, LoopHandler, @unchecked Sendable {  // confined to the session's loop
        private var receiver: (any LoadReceiver)?
        private var step = 0

        func load(
            _ request: URLRequest, _ resources: LoadResources, by make: @escaping (URLRequest) throws -> any LoopHandler
        ) throws -> any LoopHandler { self }

        func record(
            _ metrics: URLSessionTaskMetrics, _ error: (any Error)?, ofTask task: Int, from firstURL: URL?,
            in session: SessionIdentity
        ) {}

        func flush(_ done: @escaping @Sendable () -> Void) { done() }

        func begin(_ receiver: any LoadReceiver) {
            self.receiver = receiver
            proceed()
        }

        func end() { receiver = nil }
        func receiverDidBlock() {}
        func receiverDidBecomeReady() { proceed() }

        private func proceed() {
            var flow = Flow.more
            while flow == .more, let receiver {
                step += 1
                switch step {
                case 1: flow = sendHead(to: receiver)
                case 2: flow = send("first", Data(count: (8 << 20) + 1), to: receiver)
                case 3: flow = send("second", Data("rest".utf8), to: receiver)
                default:
                    self.receiver = nil
                    receiver.fail(URLError(.networkConnectionLost))
                }
            }
        }

        private func sendHead(to receiver: any LoadReceiver) -> Flow {
            let url = URL(string: "http://localhost/") ?? URL(fileURLWithPath: "/")
            let head = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: nil,
                headerFields: ["ETag": "\"a\"", "Content-Encoding": "gzip"])
            return head.map { receiver.receive($0) } ?? .wait
        }

        private func send(_ coded: String, _ data: Data, to receiver: any LoadReceiver) -> Flow {
            Data(coded.utf8).withUnsafeBytes { receiver.receive(coded: $0) }
            return receiver.receive(data)
        }
    }

    /// A download is resumed behind its coded bytes. Those that come before a response is held are not kept.
    @Test(arguments: [true, false]) func resumeDataOfACodedBody(isHeld: Bool) async throws {
        let holds = HoldRecorder(Redactor(.standard), inbox)
        if isHeld { holds.set([try #require(HoldRule(["id": "1", "stage": "response", "words": "localhost"]))]) }
        holds.set(isWatched: true)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.settings.recorders = [holds, CodedParts()]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "http://localhost/"))
        let loading = Task { _ = try await session.download(from: url) }
        if isHeld {
            try await waitUntil { holds.held(1) != nil }
            holds.held(1)?.decide(.proceed(nil))
        }
        guard case .failure(let error as URLError) = await loading.result else { return #expect(Bool(false)) }
        let data = try error.downloadTaskResumeData.map { try ResumeData($0) }
        #expect(error.code == .networkConnectionLost && data?.count == (isHeld ? nil : 11))
        guard let name = data?.fileName else { return }
        try FileManager.default.removeItem(atPath: try DownloadFolder.shared.path(of: name))
    }
}
