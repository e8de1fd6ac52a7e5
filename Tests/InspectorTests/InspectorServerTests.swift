import Foundation
import Glibc
import LoadingKit
import LoadingKitCore
import LoadingKitHAR
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitInspector

/// Pages whose connections fail while the server sends to them. Its clock stands still unless a test advances it.
@Suite(.timeLimit(.minutes(5))) struct InspectorServerTests {
    /// The head of the events, the options and the rules: what a page gets before its entries, with a call each.
    private static let callsBeforeEntries = 3

    private let time = ManualTime()
    private let rules = HARRules(.network, .standard, bodyLimit: nil)
    private let inbox = TrafficInbox()
    private let holds: HoldRecorder
    private let server: InspectorServer
    private let address: String
    private let port: UInt16

    init() throws {
        let loop = EventLoop(name: "inspector", time: .manual(time))
        let listener = try LocalListener.listen(at: .ip(.loopback4, port: 0), on: loop).get()
        let access = InspectorAccess(port: listener.address?.port ?? 0)
        (address, port) = (access.address, access.port)
        holds = HoldRecorder(rules.redactor, inbox)
        server = InspectorServer(listener, access, loop, rules, redacts: true, inbox, holds)
    }

    private func onLoop<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in
            server.loop.execute { continuation.resume(returning: body()) }
        }
    }

    /// Starts the server, whose n-th call that sends fails.
    private func start(failing call: Int) async {
        server.loop.attach(FaultPlan(.sendmsg, .nth(call), .fail(EPIPE)))
        await onLoop { [server] in server.start() }
    }

    private func end() {
        server.loop.execute { [server] in server.stop() }
        server.loop.stop()
    }

    /// Performs loads, and gives them to the server; the identifiers of their entries.
    private func record(_ count: Int) async throws -> [String] {
        let site = try LoopbackServer { _ in .text("hello") }
        defer { site.stop() }
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let ended = Recorder<LoadNotes>()
        let recording = LoadRecording(rules, on: OrderedWork()) { moment, notes in
            if moment == .ended { ended.append(notes) }
        }
        session.core.add(recording)
        let url = try #require(URL(string: site.url("/")))
        for _ in 0..<count { _ = try await session.data(from: url) }
        let loads = await ended.count(reaches: count)
        for notes in loads { inbox.add(.load(LoadSnapshot(notes))) }
        return loads.map { String($0.number) }
    }

    /// The call that fails is for the head of the events, the options, the rules, or one of the entries.
    @Test(arguments: 1...6) func aPageThatFailsIsNoLongerOpen(_ call: Int) async throws {
        defer { end() }
        let all = try await record(3)
        let last = try #require(all.last)
        let rule = try #require(HoldRule(["id": "1", "stage": "request"]))
        holds.set([rule])
        let request = URLRequest(url: try #require(URL(string: "http://h.example/")))
        await start(failing: call)
        let page = PageClient(address)
        try await page.waitForEnd()
        // The loop has closed the connection, and may not have finished its work yet.
        await onLoop {}
        #expect(!inbox.isWatched && !holds.holds(.request, request))
        let other = PageClient(address)
        try await other.wait(forEntry: last)
        #expect(other.entries == all && inbox.isWatched && holds.holds(.request, request))
    }

    /// Two pages get the loads from before, and the first page's connection fails.
    @Test func theOtherPageGetsEachEntryOnce() async throws {
        let all = try await record(InspectorServer.entriesAtOnce + 3)
        let (first, last) = (all[InspectorServer.entriesAtOnce - 1], all[InspectorServer.entriesAtOnce + 2])
        // It fails at its next entry, which it gets when the other page is opened.
        await start(failing: 2 * Self.callsBeforeEntries + InspectorServer.entriesAtOnce + 1)
        let page = PageClient(address)
        try await page.wait(forEntry: first)
        let other = PageClient(address)
        try await page.waitForEnd()
        try await other.wait(forEntry: first)
        time.advance(by: .milliseconds(150))
        try await other.wait(forEntry: last)
        end()
        try await other.waitForEnd()
        #expect(page.entries == Array(all.dropLast(3)) && other.entries == all)
    }

    /// The only page fails when another one is opened, before its next update.
    @Test func updatesKeepTheirPace() async throws {
        let all = try await record(2 * InspectorServer.entriesAtOnce + 1)
        let expected = Array(all.dropLast())
        let (first, last) = (all[InspectorServer.entriesAtOnce - 1], all[2 * InspectorServer.entriesAtOnce - 1])
        // It fails at the news that it gets after the other page's head.
        await start(failing: Self.callsBeforeEntries + InspectorServer.entriesAtOnce + 2)
        let page = PageClient(address)
        try await page.wait(forEntry: first)
        inbox.add(TrafficInbox.Session(identity: SessionIdentity(), name: "default"))
        let other = PageClient(address)
        try await page.waitForEnd()
        try await other.wait(forEntry: first)
        time.advance(by: .milliseconds(150))
        try await other.wait(forEntry: last)
        end()
        try await other.waitForEnd()
        #expect(other.entries == expected)
    }

    private func heldLoad(_ url: String) -> HeldLoad {
        let shown = ShownMessage(
            line: .request(method: "GET", url: url), fields: [], body: [], bodyNote: "", redactor: holds.redactor)
        return HeldLoad(
            number: holds.makeNumber(), session: SessionIdentity(), task: 1, request: shown, response: nil
        ) { _ in }
    }

    /// The inbox drops the earliest inputs where there are too many: also that a load is held, and that it goes on.
    @Test func heldLoadsAreShownAsTheyAre() async throws {
        defer { end() }
        await onLoop { [server] in server.start() }
        let page = PageClient(address)
        _ = try await page.message { $0["type"] == "rules" }
        let first = heldLoad("http://h/first")
        holds.didHold(first)
        time.advance(by: .milliseconds(150))
        let held = try await page.held("/first", "request")
        holds.didRelease(first)
        holds.didHold(heldLoad("http://h/second"))
        let session = SessionIdentity()
        let event = SessionEventRecord(time: MonotonicTime(nanoseconds: 0), event: .loadBegan)
        for _ in 0..<131_072 { inbox.session(session, did: event, detail: "") }
        time.advance(by: .milliseconds(150))
        _ = try await page.held("/second", "request")
        _ = try await page.message { $0["type"] == "released" && $0["id"] == held["id"] }
        let all = page.messages.snapshot.filter { $0["type"] == "held" }
        #expect(all.count == 2)
    }

    /// The server closes connections in favour of others that wait.
    @Test func connectionsAreWithinTheLimit() async throws {
        defer { end() }
        let silent = try (0..<100).map { _ in try LoopbackClient(.ipv4(port: port)) }
        await onLoop { [server] in server.start() }
        let count = await onLoop { [server] in server.connections.count }
        #expect(count == InspectorServer.mostConnections && silent.count == 100)
    }
}
