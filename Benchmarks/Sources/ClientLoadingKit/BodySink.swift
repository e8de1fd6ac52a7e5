import ClientSupport
import Foundation
import LoadingKit

/// A delegate that counts the body's bytes, and writes them to a file where there is one. One load at a time.
final class BodySink: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // between loads, the queue is idle
    private var length = 0
    private var file: FileHandle?
    private var continuation: CheckedContinuation<Int, any Error>?

    func load(_ task: URLSessionDataTask, to file: Bool) async throws -> Int {
        length = 0
        if file {
            try Data().write(to: URL(fileURLWithPath: Arguments.process.file))
            self.file = try FileHandle(forWritingTo: URL(fileURLWithPath: Arguments.process.file))
        }
        return try await withCheckedThrowingContinuation {
            continuation = $0
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        length += data.count
        do { try file?.write(contentsOf: data) } catch { fail("\(error)") }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        do { try file?.close() } catch { fail("\(error)") }
        if let error { continuation?.resume(throwing: error) } else { continuation?.resume(returning: length) }
    }
}
