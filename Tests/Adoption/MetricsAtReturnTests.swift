import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A delegate was told of a load's metrics when the asynchronous method that loads has returned.
@Suite struct MetricsAtReturnTests {
    final class Delegate: NSObject, URLSessionTaskDelegate {
        let collected = Box(0)

        func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
        {
            collected.update { $0 += 1 }
        }
    }

    enum Method: CaseIterable, Sendable {
        case data, upload, download, failing
    }

    @Test(arguments: Method.allCases, [true, false]) func areThere(_ method: Method, isTasks: Bool) async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let delegate = Delegate()
        let session = URLSession(
            configuration: .ephemeral, delegate: isTasks ? nil : delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let request = URLRequest(url: try #require(URL(string: server.url("/"))))
            let own = isTasks ? delegate : nil
            for count in 1...50 {
                switch method {
                case .data: _ = try await session.data(for: request, delegate: own)
                case .upload: _ = try await session.upload(for: request, from: Data([1]), delegate: own)
                case .download: _ = try await session.download(for: request, delegate: own)
                case .failing:
                    let refused = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
                    _ = try? await session.data(for: refused, delegate: own)
                }
                #expect(delegate.collected.value == count)
            }
        }
    }
}
