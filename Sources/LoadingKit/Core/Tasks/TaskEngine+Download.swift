import Foundation
import LoadingKitTransport

/// How what a download task loads gets into its file.
extension TaskEngine {
    /// A download that goes on where an earlier one ended, until the server has said whether it can.
    struct Resuming {
        let data: ResumeData
        /// Bytes that are in the file.
        let offset: Int64
        /// Asks for all of the resource.
        let whole: URLRequest
    }

    func makeSpool(_ file: DownloadFile) -> DownloadSpool {
        let spool = DownloadSpool(loop, file)
        spool.onWritten = { [weak self] in self?.wrote($0) }
        spool.onFailure = { [weak self] in self?.end(with: $0) }
        return spool
    }

    /// Decides where a response's bytes go: behind those that are there, or in their place.
    func place(_ response: URLResponse) {
        guard let resuming else { return }
        self.resuming = nil
        let answer = response as? HTTPURLResponse
        if let answer, resuming.data.isContinued(by: answer, from: resuming.offset) {
            return goOn(from: resuming.offset, answer)
        }
        spool?.startOver()
        // Other bytes than those asked for: all of them are, then.
        if answer?.statusCode == 206 || answer?.statusCode == 416 { loadAnew(resuming.whole) }
    }

    private func goOn(from offset: Int64, _ response: HTTPURLResponse) {
        let range = response.value(forHTTPHeaderField: "Content-Range").flatMap(ContentRange.init)
        let rest = response.expectedContentLength
        let expected = range?.total ?? (rest < 0 ? NSURLSessionTransferSizeUnknown : offset &+ rest)
        task.receivedCount.store(offset, ordering: .relaxed)
        task.shared.withLock { $0.expectedToReceive = expected }
        guard delegate.exist, let task = task as? URLSessionDownloadTask else { return }
        core.mailbox.post(for: task) { [delegate, session] in
            delegate.didResume(session, task, at: offset, expected: expected)
        }
    }

    func spoolPiece(_ data: Data) {
        guard let spool else { return }
        spool.append(data, of: task.countOfBytesExpectedToReceive)
        if spool.isBehind, !isOver { hold(for: .behind) }
    }

    private func wrote(_ count: Int64) {
        guard let spool else { return }
        if count > 0, delegate.exist, let task = task as? URLSessionDownloadTask {
            let (total, expected) = (spool.count, task.countOfBytesExpectedToReceive)
            core.mailbox.postEnd(of: task) { [delegate, session] in
                delegate.didWrite(count, session, task, total: total, expected: expected)
            }
        }
        if !spool.isBehind, hold.contains(.behind) { release(.behind) }
    }

    /// The load has succeeded; the file is complete when all is written.
    func finishFile(_ spool: DownloadSpool) {
        flushChunk()
        spool.finish { [self] result in
            guard !isOver else { return }
            switch result {
            case .success(let location):
                self.location = location
                release(.writing)
            case .failure(let error): end(with: error)
            }
        }
    }

    /// The load has failed, with an error that says what it can be resumed from; or it was cancelled, by a program that has
    /// asked for that. Without resume data nobody has a use for the file.
    func settleFile(_ spool: DownloadSpool, _ error: (any Error)?, _ tell: @escaping ((any Error)?) -> Void) {
        spool.settle { [self] in
            let data = resumeData(spool, error)
            var error = error
            if let failure = error as? URLError, let data {
                var information = failure.userInfo
                information[NSURLSessionDownloadTaskResumeData] = data
                error = URLError(failure.code, userInfo: information)
            }
            // Not before: who is told may resume it at once, or look whether it is gone.
            spool.end(keepsFile: data != nil) { [error] in tell(error) }
        }
    }

    private func resumeData(_ spool: DownloadSpool, _ error: (any Error)?) -> Data? {
        guard let error = error as? URLError else { return nil }
        if error.code == .cancelled, (task as? URLSessionDownloadTask)?.isAskedForResumeData != true { return nil }
        // Not answered yet: it can be resumed from where this was to go on.
        if let resuming { return resuming.data.encoded }
        guard let request = task.currentRequest else { return nil }
        return ResumeData(
            request, task.response, firstURL: task.firstURL, fileName: spool.name, count: spool.count)?.encoded
    }

    /// Tells where the file is, before anything else is told of the end; nobody else has it.
    func tellLocation(_ location: URL) {
        guard case .file(let recipient) = consumer, let task = task as? URLSessionDownloadTask else { return }
        guard case .delegate = recipient else { return }
        core.mailbox.postEnd(of: task) { [delegate, session] in
            if task.settle(nil, heedsCancellation: true) == nil { delegate.didFinish(session, task, at: location) }
            Self.remove(location)
        }
    }

    func tellEnd(_ recipient: FileRecipient, _ error: (any Error)?) {
        let response = task.response
        switch recipient {
        case .delegate:
            tellDelegate(error)
        case .completion(let handler):
            let location = error == nil ? location : nil
            core.mailbox.post { [task] in
                handler(location, response, error)
                if let location { Self.remove(location) }
                task.letGo()
            }
        case .continuation(let continuation):
            guard error == nil, let location, let response else {
                let error = error ?? URLError(LoadFailure.withoutResponse, url: task.currentRequest?.url)
                return resume(continuation, with: .failure(error))
            }
            resume(continuation, with: .success((location, response)))
        }
    }

    /// Unless it was moved meanwhile.
    private static func remove(_ location: URL) { _ = SystemCalls.unlink(location.path) }

    // MARK: A data task that becomes a download

    func becomeDownload() {
        guard let old = task as? URLSessionDataTask else { return }
        let download = URLSessionDownloadTask(session, continuing: old)
        core.replace(old, by: download)
        task = download
        consumer = .file(.delegate)
        spool = makeSpool(DownloadFile())
        core.mailbox.post { [delegate, session] in
            delegate.didBecome(download, session, old)
            old.letGo()
        }
        release(.undecided)
    }
}
