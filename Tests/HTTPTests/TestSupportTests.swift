import Foundation
import TestSupport
import Testing

/// The tests' own tools: a tool that says nothing would let every test pass.
@Suite struct TestSupportTests {
    @Test func signalsWakeWhoeverWaits() async throws {
        try await withTimeout {
            let signal = Signal()
            async let first: Void = signal.wait()
            async let second: Void = signal.wait()
            async let blocking: Void = onThread { signal.waitBlocking() }
            #expect(!signal.hasFired)
            signal.fire()
            signal.fire()
            _ = try await (first, second, blocking)
            await signal.wait()
            #expect(signal.hasFired)
        }
    }

    @Test func interruptedAndCancelledWaitsEnd() async throws {
        try await withTimeout {
            let signal = Signal(), interruption = Signal()
            async let fired = onThread { signal.waitBlocking(interruptedBy: interruption) }
            interruption.fire()
            let hasFired = try await fired
            #expect(!hasFired)
            let task = Task { await signal.wait() }
            task.cancel()
            await task.value
            let recorder = Recorder<Int>()
            let counting = Task { await recorder.count(reaches: 1) }
            counting.cancel()
            #expect(await counting.value == [])
            #expect(!signal.hasFired)
        }
    }

    @Test func recordersCount() async throws {
        try await withTimeout {
            let recorder = Recorder<Int>()
            async let three = recorder.count(reaches: 3)
            async let second = recorder.element(at: 1)
            for number in 0..<3 { recorder.append(number) }
            let (list, element) = await (three, second)
            #expect(list == [0, 1, 2] && element == 1)
            #expect(recorder.last == 2 && recorder[3] == nil && recorder[-1] == nil)
        }
    }

    @Test func timeoutsFailTests() async throws {
        let never = Signal()
        let error = await #expect(throws: TimeoutError.self) {
            // Deaf to cancellation.
            try await withTimeout("waiting", seconds: 0.01) { await Task { await never.wait() }.value }
        }
        #expect(error?.description == "waiting did not come to its end within 0.01 seconds")
        never.fire()
        #expect(try await withTimeout { 5 } == 5)
        await #expect(throws: CancellationError.self) { try await withTimeout { throw CancellationError() } }
    }

    @Test func digestsAreThoseOfTheStandard() throws {
        // FIPS 180-2, appendix B.1, and the empty message.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(try SHA256.hash(Data("abc".utf8)) == abc)
        #expect(try SHA256.hash([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        let pieces = try SHA256()
        for piece in ["a", "", "bc"] { pieces.update(Array(piece.utf8)) }
        #expect(pieces.finish() == abc)
        let folder = try TemporaryFolder()
        #expect(try SHA256.hash(contentsOf: folder.write("abc", to: "deep/file")) == abc)
    }

    @Test func temporaryFoldersGo() throws {
        var folder: TemporaryFolder? = try TemporaryFolder()
        let path = try #require(folder?.path)
        try folder?.write("x", to: "a/b")
        #expect(try folder?.contents() == ["a"])
        let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(permissions == 0o700)
        folder = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func measuresTheProcess() throws {
        // Other tests open descriptors and take memory at the same time: only what is certain is expected.
        #expect(try DescriptorCount.current() >= 3)
        #expect(try ThreadCount.current() >= 1)
        #expect(try ResidentMemory.current() > 1 << 20)
        try ResidentMemory.resetPeak()
        let count = 64 << 20
        let block = [UInt8](repeating: 1, count: count)
        #expect(try ResidentMemory.peak() >= count)
        #expect(block[count - 1] == 1)
    }

    @Test func requestsAreTakenApart() {
        let text = "POST /a?b HTTP/1.1\r\nHost: h\r\nx-A: 1\r\nX-a:2\r\n\r\n"
        let request = RecordedRequest(connection: 0, head: Array(text.utf8), body: [0x68])
        #expect(request.method == "POST" && request.target == "/a?b" && request.bodyText == "h")
        #expect(request[field: "X-A"] == "1, 2" && request[field: "nothing"] == nil)
        #expect(request.headText == text)
        let empty = RecordedRequest(connection: 0, head: [])
        #expect(empty.method == "" && empty.target == "" && empty.fields.isEmpty)
    }
}
