import Foundation
import LoadingKit
import TestSupport
import Testing

/// Delegates that take their time to decide about a response.
@Suite struct HeldResponseTests {
    /// A folder's document has a beginning that is not the server's.
    @Test(arguments: [URLSession.ResponseDisposition.allow, .becomeDownload])
    func aListingBeginsAfterTheAnswer(_ disposition: URLSession.ResponseDisposition) async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let delegate = HoldingDelegate()
        let session = makeFTPSession(delegate: delegate)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: server.url("/folder/"))))
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        try await withTimeout { [request] in
            session.dataTask(with: request).resume()
            await delegate.hasResponse.wait()
            await server.step("end")
            await delegate.awaitFurtherCalls(in: session)
            #expect(delegate.dataCount.value == 0)
            delegate.answer(disposition)
            await delegate.ended.wait()
            #expect(delegate.error.value == nil)
            #expect((delegate.dataCount.value == 0) == (disposition == .becomeDownload))
            let value = try #require(try JSONSerialization.jsonObject(with: delegate.body.value) as? [String: Any])
            #expect((value["entries"] as? [Any])?.count == 2)
        }
    }

    /// The load has ended before the answer, and left no bytes.
    @Test(arguments: ["HEAD", "PUT", "APPE", "MKCOL", "GET"])
    func aLoadThatHasEndedBecomesADownload(_ method: String) async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let delegate = HoldingDelegate()
        let session = makeFTPSession(delegate: delegate)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: server.url())))
        request.httpMethod = method
        if method == "PUT" || method == "APPE" { request.httpBody = Data("body".utf8) }
        // The file does not have them: the response is a 416.
        if method == "GET" { request.setValue("bytes=99999999-", forHTTPHeaderField: "Range") }
        try await withTimeout(method) { [request] in
            session.dataTask(with: request).resume()
            await delegate.hasResponse.wait()
            delegate.answer(.becomeDownload)
            await delegate.ended.wait()
            #expect(delegate.error.value == nil)
            #expect(delegate.fileCount.value == 1 && delegate.body.value.isEmpty)
        }
    }

    /// All bytes are on the data connection, and the server has said so. The control connection's end changes nothing.
    @Test(arguments: ["226 done\r\n", "226 done\r\n421 bye\r\n", "226 done\r\n226 more\r\n"])
    func aConnectionMayEndAfterTheLastReply(_ last: String) async throws {
        let server = try FaultyFTPServer([.init(step: "end", act: .close(last))])
        defer { server.stop() }
        let delegate = HoldingDelegate()
        let session = makeFTPSession(delegate: delegate)
        defer { session.invalidateAndCancel() }
        try await withTimeout(last) {
            session.dataTask(with: try #require(URL(string: server.url()))).resume()
            await delegate.hasResponse.wait()
            await server.awaitConnectionEnds(1)
            await delegate.awaitFurtherCalls(in: session)
            delegate.answer(.allow)
            await delegate.ended.wait()
            #expect(delegate.error.value == nil)
            #expect(delegate.body.value == Data(FaultyFTPServer.file))
            // The connection is not kept for other loads: what follows the last reply ends it.
            try await waitUntil { await session.statistics.connections.closed == ["lost": 1] }
        }
    }
}

/// Keeps the response until the test answers.
private final class HoldingDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
    let (hasResponse, ended) = (Signal(), Signal())
    /// What a data task has received, or the content of a download's file.
    let body = Box(Data())
    /// The number of calls with data.
    let dataCount = Box(0)
    /// The number of calls with a download's file.
    let fileCount = Box(0)
    let error = Box<URLError.Code?>(nil)
    private let held = Box<(@Sendable (URLSession.ResponseDisposition) -> Void)?>(nil)

    func answer(_ disposition: URLSession.ResponseDisposition) { held.value?(disposition) }

    /// What came before has been read after this, and the delegate has been called about it.
    func awaitFurtherCalls(in session: URLSession) async {
        for _ in 0..<2 { _ = await session.allTasks }
        await withCheckedContinuation { done in session.delegateQueue.addOperation { done.resume() } }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        held.value = completionHandler
        hasResponse.fire()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        dataCount.update { $0 += 1 }
        body.update { $0 += data }
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        fileCount.update { $0 += 1 }
        body.value = (try? Data(contentsOf: location)) ?? Data()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.error.value = (error as? URLError)?.code
        ended.fire()
    }
}
