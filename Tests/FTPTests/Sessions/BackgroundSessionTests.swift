import Foundation
import LoadingKit
import TestSupport
import Testing

#if Persistence
    /// A background session has no transfers of FTP: they fail at once, with an error that says so.
    @Suite struct BackgroundSessionTests {
        private static func session(_ delegate: Transfers) -> URLSession {
            let configuration = URLSessionConfiguration.background(withIdentifier: "ftp-\(UUID().uuidString)")
            configuration.runsInProcess = true
            configuration.connectionProxyDictionary = [:]
            return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }

        @Test(arguments: [false, true]) func aTransfer(isUpload: Bool) async throws {
            let server = try FaultyFTPServer()
            defer { server.stop() }
            let transfers = Transfers()
            let session = Self.session(transfers)
            defer { session.invalidateAndCancel() }
            var request = URLRequest(url: try #require(URL(string: server.url())))
            let folder = try TemporaryFolder()
            let file = try folder.write(ScenarioRun.text, to: "file")
            if isUpload { request.httpMethod = "PUT" }
            let task =
                isUpload
                ? session.uploadTask(with: request, fromFile: file)
                : session.downloadTask(with: request) as URLSessionTask
            task.resume()
            await transfers.ended.wait()
            #expect(transfers.error.value == .unsupportedURL)
            #expect(server.steps == [])
        }

        private final class Transfers: NSObject, URLSessionDownloadDelegate, Sendable {
            let ended = Signal()
            let error = Box<URLError.Code?>(nil)

            func urlSession(
                _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
            ) {}

            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                self.error.value = (error as? URLError)?.code
                ended.fire()
            }
        }
    }
#endif
