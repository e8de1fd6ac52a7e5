import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// `LoadContext.offLoop`: code that blocks holds up no other load.
@Suite struct OffLoopTests {
    private static func session(_ load: @escaping @Sendable (LoadContext) async throws -> Void) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.register(scheme: "off", loading: load)
        return URLSession(configuration: configuration)
    }

    private static func answer(_ load: LoadContext, _ text: String) async throws {
        try await load.receive(
            URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
        try await load.receive(Data(text.utf8))
    }

    /// More loads block than there are processors; another one is loaded meanwhile.
    @Test func whatBlocksHoldsUpNobodyElse() async throws {
        let (begun, go) = (Recorder<Bool>(), Signal())
        let session = Self.session { load in
            guard load.url.host == "blocks" else { return try await Self.answer(load, "free") }
            let text = try await load.offLoop { () -> String in
                begun.append(true)
                go.waitBlocking()
                return "blocked"
            }
            try await Self.answer(load, text)
        }
        defer { session.invalidateAndCancel() }
        let (blocks, free) = (try #require(URL(string: "off://blocks")), try #require(URL(string: "off://free")))
        try await withTimeout {
            try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<20 { group.addTask { try await session.data(from: blocks).0 } }
                _ = await begun.element(at: 19)
                let data = try await session.data(from: free).0
                #expect(data == Data("free".utf8))
                go.fire()
                for try await data in group { #expect(data == Data("blocked".utf8)) }
            }
        }
    }

    @Test func itsErrorIsThrown() async throws {
        let session = Self.session { load in try await load.offLoop { throw CocoaError(.fileReadCorruptFile) } }
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "off://fails"))
        let error = await #expect(throws: CocoaError.self) { try await session.data(from: url) }
        #expect(error?.code == .fileReadCorruptFile)
    }

    /// What has begun runs to its end; what has not begun does not begin.
    @Test func aCancelledLoadBeginsNothing() async throws {
        let (begun, go, errors) = (Signal(), Signal(), Recorder<String>())
        let session = Self.session { load in
            let text = try await load.offLoop { () -> String in
                begun.fire()
                go.waitBlocking()
                return "whole"
            }
            errors.append(text)
            while !Task.isCancelled { await Task.yield() }
            do { try await load.offLoop { errors.append("begun") } } catch { errors.append("\(type(of: error))") }
        }
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try #require(URL(string: "off://cancelled")))
        task.resume()
        await begun.wait()
        task.cancel()
        go.fire()
        try await withTimeout { _ = await errors.element(at: 1) }
        #expect(errors.snapshot == ["whole", "CancellationError"])
    }
}
