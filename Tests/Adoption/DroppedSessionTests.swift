import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Programs that make sessions and let go of them without invalidating them.
@Suite struct DroppedSessionTests {
    enum Use: CaseIterable, Sendable {
        case unused, finished, running, cancelled, downloading, withDelegate
    }

    private final class Delegate: NSObject, URLSessionDataDelegate {
        let ended: Recorder<String>
        init(_ ended: Recorder<String>) { self.ended = ended }
        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ended.append(error == nil ? "ok" : "error")
        }
    }

    private struct Reference: @unchecked Sendable {  // weak references may be read anywhere
        weak var session: URLSession?
    }

    /// Makes a session, begins what it is for, and keeps nothing.
    private static func begin(_ use: Use, _ url: URL, _ ended: Recorder<String>) -> Reference {
        let configuration = URLSessionConfiguration.ephemeral
        let delegate = use == .withDelegate ? Delegate(ended) : nil
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        switch use {
        case .unused: ended.append("ok")
        case .withDelegate: session.dataTask(with: url).resume()
        case .downloading:
            session.downloadTask(with: url) { _, _, error in ended.append(error == nil ? "ok" : "error") }.resume()
        case .finished, .running, .cancelled:
            let task = session.dataTask(with: url) { _, _, error in ended.append(error == nil ? "ok" : "error") }
            task.resume()
            if use == .cancelled { task.cancel() }
        }
        return Reference(session: session)
    }

    @Test("1,000 sessions are gone when their tasks are over, with what they had", arguments: Use.allCases)
    func dropped(_ use: Use) async throws {
        let release = Box(Signal())
        let server = try LoopbackServer { request in
            if use == .running || use == .cancelled { try request.exchange.wait(for: release.value) }
            return .text("hello")
        }
        defer { server.stop() }
        let url = try #require(URL(string: server.url("/")))
        try await withTimeout {
            for _ in 0..<20 {
                release.value = Signal()
                let ended = Recorder<String>()
                let references = (0..<50).map { _ in Self.begin(use, url, ended) }
                if use == .running {
                    // Nothing but the tasks holds them.
                    #expect(references.allSatisfy { $0.session != nil })
                    release.value.fire()
                }
                let ends = await ended.count(reaches: 50)
                release.value.fire()
                #expect(ends == Array(repeating: use == .cancelled ? "error" : "ok", count: 50))
                while !references.allSatisfy({ $0.session == nil }) {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            // With a session its connections end.
            while server.endings.count < server.openings.count {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }
}
