import ClientSupport
import Foundation
import LoadingKit

/// A delegate that counts the body's bytes, or those of its file. One load at a time.
final class BodySink: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
    @unchecked Sendable  // between loads, the queue is idle
{
    private var length = 0
    private var continuation: CheckedContinuation<Int, any Error>?

    func load(_ task: URLSessionTask) async throws -> Int {
        length = 0
        return try await withCheckedThrowingContinuation {
            continuation = $0
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        length += data.count
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let size = try? FileManager.default.attributesOfItem(atPath: location.path)[.size] as? Int
        length = size ?? 0
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error { continuation?.resume(throwing: error) } else { continuation?.resume(returning: length) }
    }
}
