import Foundation
import LoadingKit
import TestSupport
import Testing

/// Servers that do wrong. A load has an end, and it is a right one: all bytes of the file, or an error. What comes after it finds
/// a session that works.
@Suite struct HostileServerTests {
    private typealias Fault = FaultyFTPServer.Fault
    private typealias Act = FaultyFTPServer.Act

    @Test(arguments: HostileCase.all) func table(_ row: HostileCase) async throws {
        let server = try FaultyFTPServer(row.faults)
        defer { server.stop() }
        let session = makeFTPSession()
        defer { session.invalidateAndCancel() }
        let outcome = try await withTimeout(row.name) { await session.outcome(server.url()) }
        switch row.expected {
        case .loads: #expect(outcome == .loaded(FaultyFTPServer.file), "\(row.name): \(server.steps)")
        case .fails(let code): #expect(outcome == .failed(code), "\(row.name): \(server.steps)")
        }
        let next = try await withTimeout("after \(row.name)") { await session.outcome(server.url()) }
        #expect(next == .loaded(FaultyFTPServer.file) || !server.hasFailed, "after \(row.name): \(server.steps)")
    }

    /// The commands of a file's load on a server without faults.
    private static func usualSteps(_ path: String) async throws -> [String] {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession()
        defer { session.invalidateAndCancel() }
        let outcome = await session.outcome(server.url(path))
        guard case .loaded = outcome else {
            Issue.record("a server without faults: \(outcome), after \(server.steps)")
            return []
        }
        return server.steps.filter { $0 != "QUIT" }
    }

    private static let wrongReplies = [
        "421 x\r\n", "425 x\r\n", "426 x\r\n", "450 x\r\n", "451 x\r\n", "452 x\r\n", "500 x\r\n", "501 x\r\n",
        "502 x\r\n",
        "503 x\r\n", "504 x\r\n", "522 x\r\n", "530 x\r\n", "532 x\r\n", "534 x\r\n", "550 x\r\n", "552 x\r\n",
        "553 x\r\n",
        "200 x\r\n", "331 x\r\n", "350 x\r\n", "213 x\r\n", "227 x\r\n", "229 x\r\n", "257 x\r\n", "234 x\r\n",
        "000 x\r\n",
        "600 x\r\n", "\r\n", "\n", "x\r\n", "2\r\n", "200\r\n", "200x\r\n", "-\r\n", "\u{0}\u{0}\u{0}\u{0}\r\n",
        "200 x\r200 y\r\n",
    ]

    /// Each reply is a case, so that the two thousand loads share the processors.
    @Test(arguments: ["/file.txt", "/folder/"], wrongReplies)
    func everyWrongReplyAtEveryStep(path: String, reply: String) async throws {
        for step in try await Self.usualSteps(path) {
            // The connection's end stands for a server that thinks that it has said all.
            for act in [Act.close(reply), .before(reply), .after(reply)] {
                await expectAnEnd(path, Fault(step: step, act: act))
            }
        }
    }

    @Test(arguments: ["/file.txt", "/folder/"]) func everyEndAtEveryStep(path: String) async throws {
        for step in try await Self.usualSteps(path) {
            for act in [
                Act.close(""), .reset, .close("1"), .close("22"), .close("220"), .close("220-x\r\n"), .byteByByte,
            ] {
                await expectAnEnd(path, Fault(step: step, act: act))
            }
        }
    }

    @Test func aServerThatFallsSilentAtAnyStep() async throws {
        let steps = try await Self.usualSteps("/file.txt")
        await withTaskGroup(of: Void.self) { group in
            for step in steps {
                group.addTask {
                    await expectAnEnd("/file.txt", Fault(step: step, act: .silence), timeout: 0.5) {
                        $0 == .failed(.timedOut)
                    }
                }
            }
        }
    }

    @Test func loadsThatAreCancelledAtAnyStep() async throws {
        for step in try await Self.usualSteps("/file.txt") {
            let server = try FaultyFTPServer([Fault(step: step, act: .silence)])
            defer { server.stop() }
            let session = makeFTPSession()
            defer { session.invalidateAndCancel() }
            let url = server.url()
            let load = Task { await session.outcome(url) }
            await server.step(step)
            load.cancel()
            let outcome = try await withTimeout(step) { await load.value }
            #expect(outcome == .failed(.cancelled) || outcome == .other("CancellationError()"), "\(step)")
            let next = try await withTimeout("after \(step), \(server.steps)") {
                await session.outcome(url)
            }
            #expect(next == .loaded(FaultyFTPServer.file), "after \(step)")
        }
    }

    /// Loads with a fault, and then without.
    private func expectAnEnd(
        _ path: String, _ fault: Fault, timeout: TimeInterval = 1000,
        where isRight: (FTPOutcome) -> Bool = { _ in true }
    ) async {
        do {
            let server = try FaultyFTPServer([fault])
            defer { server.stop() }
            let session = makeFTPSession { $0.timeoutIntervalForRequest = timeout }
            defer { session.invalidateAndCancel() }
            let right = path.hasSuffix("/") ? nil : FaultyFTPServer.file
            for what in ["with", "after"] {
                let outcome = try await withTimeout("\(what) \(fault)") {
                    await session.outcome(server.url(path))
                }
                switch outcome {
                case .loaded(let bytes): #expect(right == nil || bytes == right, "\(what) \(fault): \(server.steps)")
                case .failed(let code):
                    #expect(
                        code != .unknown && code != .cancelled && code != .timedOut || timeout < 1000,
                        "\(what) \(fault): \(outcome)")
                case .other(let text): Issue.record("\(what) \(fault): \(text)")
                }
                if what == "with" { #expect(isRight(outcome), "\(fault): \(outcome)") }
                // A fault that was not met, as the client did not come to it, waits for the second load.
                if what == "after", server.hasFailed, case .failed = outcome {
                    #expect(
                        server.steps.filter { $0 == "greeting" }.count < 2,
                        "after \(fault): \(outcome), \(server.steps)")
                }
            }
        } catch {
            Issue.record("\(fault): \(error)")
        }
    }
}
