import Foundation
import LoadingKitTransport

/// What has to be known before a task's request can be loaded.
extension TaskEngine {
    /// Gives the request to load; or ends the task.
    func prepare(_ request: URLRequest, _ load: @escaping (URLRequest) -> Void) {
        if let upload = task as? URLSessionUploadTask, upload.asksForStream {
            prepareStream(request, load)
        } else if let file = request.bodyFile {
            prepare(on: BlockingPool.shared, { try file.measured() }) { file in
                var request = request
                request.bodyFile = file
                load(request)
            }
        } else if case .file = consumer {
            prepareDownload(request, load)
        } else {
            load(request)
        }
    }

    /// The delegate's stream, or the request's own.
    private func prepareStream(_ request: URLRequest, _ load: @escaping (URLRequest) -> Void) {
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
            load(request)
        }
    }

    private func prepareDownload(_ request: URLRequest, _ load: @escaping (URLRequest) -> Void) {
        guard let resumption = (task as? URLSessionDownloadTask)?.resumption else {
            spool = makeSpool(DownloadFile())
            return load(request)
        }
        prepare(
            on: BlockingPool.shared,
            {
                let data = try resumption.get()
                return (data, try DownloadFile(resuming: data.fileName, count: data.count))
            },
            { [self] (data: ResumeData, file: DownloadFile) in
                spool = makeSpool(file)
                guard file.count > 0 else { return load(request) }
                resuming = Resuming(data: data, offset: file.count, whole: request)
                load(data.rest(of: request, from: file.count))
            })
    }

    /// Runs `work`, which may block, on the pool; `next` on the loop, unless the task is over by then.
    private func prepare<Value: Sendable>(
        on pool: BlockingPool, _ work: @escaping @Sendable () throws -> Value, _ next: @escaping (Value) -> Void
    ) {
        let next = LoopTransfer(next)
        pool.run { [self] in
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
