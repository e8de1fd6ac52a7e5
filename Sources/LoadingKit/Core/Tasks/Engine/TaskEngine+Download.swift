import Foundation
import LoadingKitTransport

/// The calls to the delegate of a download, and its resume data.
extension TaskEngine {
    func didResume(at offset: Int64, of expected: Int64, informsDelegate: Bool) {
        task.receivedCount.store(offset, ordering: .relaxed)
        task.shared.withLock { $0.expectedToReceive = expected }
        guard informsDelegate, let delegates, let task = task as? URLSessionDownloadTask else { return }
        core.mailbox.post(for: task) { [session] in
            delegates.didResume(session, task, at: offset, expected: expected)
        }
    }

    func didWrite(_ count: Int64, total: Int64) {
        guard let delegates, let task = task as? URLSessionDownloadTask else { return }
        let (before, expected) = (total &- count, expectedToReceive)
        if postedWritten?.add(count, after: before, of: expected) == true { return }
        let posted = PostedBytes(count, after: before, of: expected)
        postedWritten = posted
        core.mailbox.postEnd(of: task) { [session] in
            let (count, total) = posted.take()
            delegates.didWrite(count, session, task, total: total, expected: expected)
        }
    }

    /// The delegate gets the file's location before anything else about the end.
    func didFinish(at location: URL) {
        guard let task = task as? URLSessionDownloadTask else { return }
        core.mailbox.postEnd(of: task, isFirst: true) { [session, delegates] in
            if task.settle(nil, heedsCancellation: true) == nil { delegates?.didFinish(session, task, at: location) }
            _ = SystemCalls.unlink(location.path)
        }
    }

    func keepsContentCodings(of request: URLRequest) -> Bool { core.settings.keepsContentCodings(of: request) }

    var maximumDecompressionRatio: Int { core.settings.maximumDecompressionRatio }

    var ranges: RangeSupport {
        task.currentRequest.flatMap { core.registry.builtIn(for: $0) }?.ranges ?? .declared
    }

    func resumeData(_ make: (URLRequest, HTTPURLResponse, _ firstURL: URL?) -> ResumeData?) -> Data? {
        guard let request = task.currentRequest, let response = task.response as? HTTPURLResponse else { return nil }
        var data = make(request, response, task.firstURL)
        data?.user = request.url.flatMap { core.namedUsers.word(for: $0) }
        return data?.encoded
    }
}
