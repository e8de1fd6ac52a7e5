import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// What a delegate has allowed to be stored is in the cache when it is told that the task is over.
@Suite struct CacheAtCompletionTests {
    enum Answer: CaseIterable, Sendable {
        case atOnce, later, never, changed
    }

    final class Delegate: NSObject, URLSessionDataDelegate {
        let cache: URLCache
        let answer: Answer
        let ends = Recorder<String>()

        init(_ cache: URLCache, _ answer: Answer) {
            self.cache = cache
            self.answer = answer
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            switch answer {
            case .atOnce: completionHandler(proposedResponse)
            case .later: DispatchQueue.global().async { completionHandler(proposedResponse) }
            case .never: break
            case .changed:
                completionHandler(
                    CachedURLResponse(response: proposedResponse.response, data: Data("changed".utf8)))
            }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let stored = task.originalRequest.flatMap { cache.cachedResponse(for: $0) }
            ends.append(stored.map { String(decoding: $0.data, as: UTF8.self) } ?? "nothing")
        }
    }

    @Test(arguments: Answer.allCases) func isThere(_ answer: Answer) async throws {
        let server = try LoopbackServer { _ in .text("hello").adding("Cache-Control", "max-age=1000") }
        defer { server.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        configuration.urlCache = cache
        let delegate = Delegate(cache, answer)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            for number in 0..<50 {
                session.dataTask(with: try #require(URL(string: server.url("/\(number)")))).resume()
            }
            let ends = await delegate.ends.count(reaches: 50)
            let expected =
                switch answer {
                case .atOnce, .later: "hello"
                case .changed: "changed"
                case .never: "nothing"
                }
            #expect(ends == Array(repeating: expected, count: 50))
        }
    }
}
