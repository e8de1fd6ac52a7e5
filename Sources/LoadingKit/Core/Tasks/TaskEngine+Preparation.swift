import Foundation
import LoadingKitTransport

/// What has to be known before a task's request can be loaded.
extension TaskEngine {
    /// Loads the request when that is known; or ends the task.
    func prepare(_ request: URLRequest) {
        if let upload = task as? URLSessionUploadTask, upload.asksForStream {
            prepareStream(request)
        } else if let file = request.bodyFile {
            onPool({ try file.measured() }) { [self] file in
                var request = request
                request.bodyFile = file
                task.countOfBytesExpectedToSend = file.size ?? NSURLSessionTransferSizeUnknown
                task.updateProgress()
                loadPrepared(request)
            }
        } else if case .file = consumer {
            prepareDownload(request)
        } else {
            loadUnlessSuspended(request)
        }
    }

    private func loadPrepared(_ request: URLRequest) {
        task.currentRequest = request
        loadUnlessSuspended(request)
    }

    /// The delegate's stream, or the request's own.
    private func prepareStream(_ request: URLRequest) {
        needNewBodyStream { [self] stream in
            guard !isOver else { return }
            guard let stream = stream ?? request.httpBodyStream else {
                return end(
                    with: LoadFailure(
                        .requestBodyStreamExhausted,
                        "the upload has no body: the delegate gave no stream (needNewBodyStream)"))
            }
            var request = request
            request.httpBodyStream = stream
            loadPrepared(request)
        }
    }

    private func prepareDownload(_ request: URLRequest) {
        guard let resumption = (task as? URLSessionDownloadTask)?.resumption else {
            spool = makeSpool(DownloadFile())
            return loadUnlessSuspended(request)
        }
        onPool(
            {
                let data = try resumption.get()
                return (data, try DownloadFile(resuming: data.fileName, count: data.count))
            },
            { [self] (data: ResumeData, file: DownloadFile) in
                spool = makeSpool(file)
                guard file.count > 0 else { return loadUnlessSuspended(request) }
                resuming = Resuming(data: data, offset: file.count, whole: request)
                loadPrepared(data.rest(of: request, from: file.count))
            })
    }

    /// Runs `work`, which may block, on the pool; `next` on the loop, unless the task is over by then.
    private func onPool<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value, _ next: @escaping (Value) -> Void
    ) {
        let next = LoopTransfer(next)
        BlockingPool.shared.run { [self] in
            let result = Result { try work() }
            loop.perform { [self] in
                guard !isOver else { return }
                switch result {
                case .success(let value): next.value(value)
                case .failure(let error): end(with: error)
                }
            }
        }
    }
}
