import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

#if Persistence
    /// Downloads that go from background sessions to others, and back, by their resume data. The transfers are performed in this
    /// process.
    @Suite(.timeLimit(.minutes(5))) struct BackgroundResumeDataTests {
        private static func session(_ downloads: Downloads, _ fields: [String: String] = [:]) -> URLSession {
            let configuration = URLSessionConfiguration.background(withIdentifier: "resume-\(UUID().uuidString)")
            configuration.runsInProcess = true
            configuration.httpAdditionalHeaders = fields
            return URLSession(configuration: configuration, delegate: downloads, delegateQueue: nil)
        }

        private static func resumeData(of task: URLSessionDownloadTask) async -> Data? {
            await withCheckedContinuation { continuation in
                task.cancel { continuation.resume(returning: $0) }
            }
        }

        /// The session's credentials are for the origin of the first request, also where the download goes on.
        @Test(arguments: [true, false], [true, false])
        func aDownloadGoesOnElsewhere(fromBackground: Bool, isRedirected: Bool) async throws {
            let server = try RangeServer()
            let target = server.url
            let entry = try LoopbackServer { _ in .redirect(to: target) }
            defer {
                entry.stop()
                server.stop()
            }
            server.behaviour.update { $0.pausesAfter = 400_000 }
            let (first, second) = (Downloads(), Downloads())
            let fields = ["Authorization": "Bearer t"]
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = fields
            let usual = URLSession(
                configuration: configuration, delegate: fromBackground ? second : first, delegateQueue: nil)
            let background = Self.session(fromBackground ? first : second, fields)
            defer {
                usual.invalidateAndCancel()
                background.invalidateAndCancel()
            }
            let (here, there) = fromBackground ? (background, usual) : (usual, background)
            let url = try #require(URL(string: isRedirected ? entry.url() : target))
            let task = here.downloadTask(with: url)
            task.resume()
            for await count in first.counts where count >= 400_000 { break }
            let data = try #require(await Self.resumeData(of: task))
            server.behaviour.update { $0.pausesAfter = nil }
            there.downloadTask(withResumeData: data).resume()
            for await content in second.contents {
                #expect(content == server.content)
                break
            }
            #expect(server.ranges == [nil, "bytes=400000-"])
            let sent = server.server.requests.snapshot.map { $0.fields[name: "Authorization"] ?? "none" }
            #expect(sent == Array(repeating: isRedirected ? "none" : "Bearer t", count: 2))
        }

        /// Resume data does not name the URL's user. The session knows it.
        @Test func aDownloadGoesOnAsTheUserOfItsURL() async throws {
            let server = try RangeServer()
            defer { server.stop() }
            server.behaviour.update { behaviour in
                behaviour.pausesAfter = 400_000
                behaviour.authorization = "Basic dXNlcjpzZWNyZXQ="
            }
            let downloads = Downloads()
            let session = Self.session(downloads)
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: server.url.replacing("://", with: "://user:secret@")))
            let task = session.downloadTask(with: url)
            task.resume()
            for await count in downloads.counts where count >= 400_000 { break }
            let data = try #require(await Self.resumeData(of: task))
            #expect(data.range(of: Data("secret".utf8)) == nil)
            server.behaviour.update { $0.pausesAfter = nil }
            session.downloadTask(withResumeData: data).resume()
            for await content in downloads.contents {
                #expect(content == server.content)
                break
            }
            #expect(server.ranges.last == "bytes=400000-")
        }

        @Test func aDataTaskBecomesADownload() async throws {
            let server = try RangeServer(count: 300_000)
            defer { server.stop() }
            let downloads = Downloads()
            let session = Self.session(downloads)
            defer { session.invalidateAndCancel() }
            session.dataTask(with: try #require(URL(string: server.url))).resume()
            for await content in downloads.contents {
                #expect(content == server.content)
                break
            }
        }

        /// The delegate has given the data task another request when its date had come, and is not asked again.
        @Test func aDataTaskWithANewRequestBecomesADownload() async throws {
            let server = try RangeServer(count: 300_000)
            defer { server.stop() }
            let downloads = Downloads()
            downloads.replacement.value = URLRequest(url: try #require(URL(string: server.url)))
            let session = Self.session(downloads)
            defer { session.invalidateAndCancel() }
            let task = session.dataTask(with: try #require(URL(string: server.server.url("/old"))))
            task.earliestBeginDate = .distantPast
            task.resume()
            for await content in downloads.contents {
                #expect(content == server.content)
                break
            }
            #expect(downloads.delayed.snapshot.map(\.url?.path) == ["/old"])
            #expect(server.server.requests.snapshot.allSatisfy { $0.path == "/file" })
        }
    }

    private final class Downloads: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate {
        let counts: AsyncStream<Int64>
        let contents: AsyncStream<Data>
        /// The requests of tasks whose date had come.
        let delayed = Recorder<URLRequest>()
        /// The request with which it replaces the first of them.
        let replacement = Box<URLRequest?>(nil)
        private let counting: AsyncStream<Int64>.Continuation
        private let receiving: AsyncStream<Data>.Continuation

        override init() {
            (counts, counting) = AsyncStream.makeStream()
            (contents, receiving) = AsyncStream.makeStream()
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            receiving.yield((try? Data(contentsOf: location)) ?? Data())
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {
            counting.yield(totalBytesWritten)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
        ) {
            delayed.append(request)
            completionHandler(delayed.count == 1 ? .useNewRequest : .continueLoading, replacement.value)
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            completionHandler(.becomeDownload)
        }
    }
#endif
