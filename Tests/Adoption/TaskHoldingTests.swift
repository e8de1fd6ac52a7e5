import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Programs that keep no task: the session does, from its making until its end.
@Suite struct TaskHoldingTests {
    private struct Reference {
        weak var task: URLSessionTask?
    }

    @Test("a task that nobody else keeps", arguments: [true, false])
    func kept(isResumed: Bool) async throws {
        let (begun, release) = (Signal(), Signal())
        let server = try LoopbackServer { request in
            begun.fire()
            try request.exchange.wait(for: release)
            return .text("hello")
        }
        defer { server.stop() }
        let session = URLSession(configuration: .ephemeral)
        try await withTimeout {
            let ended = Recorder<String>()
            let url = try #require(URL(string: server.url("/")))
            let make = {
                let task = session.dataTask(with: url) { data, _, error in
                    ended.append(
                        data.map { String(decoding: $0, as: UTF8.self) }
                            ?? "\((error as? URLError)?.code.rawValue ?? 0)")
                }
                task.taskDescription = "mine"
                if isResumed { task.resume() }
                return Reference(task: task)
            }
            let reference = make()
            if isResumed { await begun.wait() }
            let descriptions = await session.allTasks.map(\.taskDescription)
            #expect(descriptions == ["mine"] && reference.task != nil)
            if isResumed { release.fire() } else { reference.task?.cancel() }
            #expect(await ended.element(at: 0) == (isResumed ? "hello" : "-999"))
            while reference.task != nil {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }
}
