import Foundation
import LoadingKit
import Synchronization

/// Shows a load's progress by a delegate, and cancels the load after a number of bytes.
///
///     swift run ProgressAndCancelExample https://example.org/large.iso 1000000
@main
enum ProgressAndCancel {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let url = URL(string: arguments[1]), let limit = Int64(arguments[2]) else {
            print("usage: ProgressAndCancelExample URL BYTES")
            exit(2)
        }
        await withCheckedContinuation { ended in
            let meter = Meter(limit: limit) { ended.resume() }
            let session = URLSession(configuration: .ephemeral, delegate: meter, delegateQueue: nil)
            session.dataTask(with: url).resume()
            // The session keeps its delegate until its tasks have ended.
            session.finishTasksAndInvalidate()
        }
    }
}

/// The session calls its delegate's methods one after the other, on the delegate queue.
final class Meter: NSObject, URLSessionDataDelegate {
    private let limit: Int64
    private let received = Mutex<Int64>(0)
    private let didEnd: @Sendable () -> Void

    init(limit: Int64, didEnd: @escaping @Sendable () -> Void) {
        (self.limit, self.didEnd) = (limit, didEnd)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let total = received.withLock {
            $0 += Int64(data.count)
            return $0
        }
        let expected = dataTask.countOfBytesExpectedToReceive  // -1 where the server does not say
        print(expected > 0 ? "\(total * 100 / expected) %" : "\(total) bytes")
        if total >= limit { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        switch error {
        case nil: print("complete")
        case let error as URLError where error.code == .cancelled: print("cancelled")
        case let error?: print("failed: \(error.localizedDescription)")
        }
        didEnd()
    }
}
