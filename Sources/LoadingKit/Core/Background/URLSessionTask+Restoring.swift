import Foundation
import LoadingKitTransport

extension URLSessionTask {
    /// Restores a background session's task of an earlier run of the program; nil where its request cannot be read.
    static func restored(_ record: TransferRecord, in session: URLSession) -> URLSessionTask? {
        guard let request = record.request.request else { return nil }
        let identifier = record.identifier
        let task: URLSessionTask =
            switch record.kind {
            case .download: URLSessionDownloadTask(session, request, identifier: identifier, consumer: nil)
            case .upload: URLSessionUploadTask(session, request, identifier: identifier, consumer: nil)
            }
        task.created = record.created
        task.shared.withLock { shared in
            shared.lifecycle = TaskLifecycle(
                record.stage == .suspended ? .suspended(count: 1, hasStarted: true) : .running)
            shared.currentRequest = record.status.currentRequest?.request(redirectedFrom: request) ?? request
            shared.firstURL = record.firstURL
            shared.response = record.status.response?.response
            shared.taskDescription = record.taskDescription
            shared.priority = record.priority
            shared.earliestBeginDate = record.earliestBeginDate
            shared.clientExpectsToSend = record.clientExpectsToSend
            shared.clientExpectsToReceive = record.clientExpectsToReceive
            // The request is without the file that is sent.
            if record.kind == .upload { shared.expectedToSend = NSURLSessionTransferSizeUnknown }
        }
        task.take(record.status.progress)
        return task
    }

    func take(_ progress: TransferProgress) {
        sentCount.store(progress.sent, ordering: .relaxed)
        receivedCount.store(progress.received, ordering: .relaxed)
        shared.withLock { shared in
            if progress.expectedToSend >= 0 { shared.expectedToSend = progress.expectedToSend }
            if progress.expectedToReceive >= 0 { shared.expectedToReceive = progress.expectedToReceive }
        }
        updateProgress()
    }

    func take(_ end: TransferStatus) {
        take(end.progress)
        if let response = end.response?.response { self.response = response }
        if let request = end.currentRequest?.request(redirectedFrom: currentRequest) { currentRequest = request }
    }
}

extension TransferRecord {
    /// The record of a task that is resumed for the first time.
    init(_ task: URLSessionTask) throws {
        try task.checkCanBegin()
        let shared = task.shared.withLock { LoopTransfer($0) }.value
        let upload = (task as? URLSessionUploadTask)?.resumption
        if let upload, upload.request.bodyFile == nil {
            let text =
                "a background session goes on with uploads of files alone: use the resume data in another session"
            throw URLError(LoadFailure(.resourceUnavailable, text), url: shared.originalRequest?.url)
        }
        // A data task that becomes a download may have begun with another request than its original one.
        guard let kind = task.transferKind, let begun = shared.firstRequest else {
            throw LoadFailure(.badURL, "the task has no request")
        }
        let request = try TransferRequest(forBackground: begun)
        let resumption = (task as? URLSessionDownloadTask)?.resumption
        self.init(identifier: task.identifier, kind: kind, request: request)
        // The performer of transfers, too, sends the session's credentials to the origin of this URL alone.
        firstURL = try upload?.firstURL ?? resumption?.get().firstURL
        uploadFile = begun.bodyFile?.url.path
        resumeData = try upload?.resumeData ?? resumption?.get().encoded
        created = task.created
        taskDescription = shared.taskDescription
        priority = shared.priority
        earliestBeginDate = shared.earliestBeginDate
        clientExpectsToSend = shared.clientExpectsToSend
        clientExpectsToReceive = shared.clientExpectsToReceive
    }
}
