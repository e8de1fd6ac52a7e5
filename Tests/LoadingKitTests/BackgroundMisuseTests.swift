import Foundation
import LoadingKit
import Testing

/// What Apple's systems raise an exception for ends the program, with the same message.
@Suite struct BackgroundMisuseTests {
    @Test func withoutADelegate() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = URLSession(configuration: .background(withIdentifier: "misused"))
        }
        expect(result, "A background session needs a delegate")
    }

    @Test func completionHandlers() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let url = URL(fileURLWithPath: "/")
            _ = misusedSession().downloadTask(with: url) { _, _, _ in }
        }
        expect(result, "Completion handler blocks are not supported in background sessions")
    }

    @Test func asynchronousCalls() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try await misusedSession().data(from: URL(fileURLWithPath: "/"))
        }
        expect(result, "Asynchronous calls are not supported in background sessions")
    }

    @Test func uploadsOfData() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = misusedSession().uploadTask(with: URLRequest(url: URL(fileURLWithPath: "/")), from: Data())
        }
        expect(result, "Upload tasks from NSData are not supported in background sessions")
    }

    @Test func uploadsOfStreams() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = misusedSession().uploadTask(withStreamedRequest: URLRequest(url: URL(fileURLWithPath: "/")))
        }
        expect(result, "Upload tasks from a stream are not supported in background sessions")
    }

    @Test func webSockets() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = misusedSession().webSocketTask(with: URL(fileURLWithPath: "/"))
        }
        expect(result, "WebSocket tasks are not supported in background sessions")
    }

    @Test func streams() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = misusedSession().streamTask(withHostName: "localhost", port: 1)
        }
        expect(result, "Stream tasks are not supported in background sessions")
    }

    private func expect(_ result: ExitTest.Result?, _ message: String) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(message))
    }
}

/// A session in this process, so that no daemon is started for it.
private func misusedSession() -> URLSession {
    final class Delegate: NSObject, URLSessionDelegate {}
    let configuration = URLSessionConfiguration.background(withIdentifier: "misused")
    configuration.runsInProcess = true
    return URLSession(configuration: configuration, delegate: Delegate(), delegateQueue: nil)
}
