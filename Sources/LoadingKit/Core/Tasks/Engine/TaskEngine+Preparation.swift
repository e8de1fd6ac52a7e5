import Foundation
import LoadingKitTransport

/// Determines the facts that are required before a task's request can be loaded.
extension TaskEngine {
    /// Loads the request after the preparation; or ends the task.
    func prepare(_ request: URLRequest) {
        do { try task.checkCanBegin() } catch { return end(with: error) }
        if task.requestsBodyStream {
            prepareStream(request)
        } else if let file = request.bodyFile {
            loop.offload(inPlace: true) {
                try file.measured()
            } then: { [self] measured in
                guard !isOver else { return }
                switch measured {
                case .success(let file): load(request, with: file)
                case .failure(let error): end(with: error)
                }
            }
        } else {
            sink.prepare(request, for: self)
        }
    }

    private func load(_ request: URLRequest, with file: BodyFile) {
        var request = request
        request.bodyFile = file
        task.countOfBytesExpectedToSend = file.size ?? NSURLSessionTransferSizeUnknown
        task.updateProgress()
        load(changed: request)
    }

    func load(changed request: URLRequest) {
        task.currentRequest = request
        load(prepared: request)
    }

    /// Takes the delegate's stream, or the request's own.
    private func prepareStream(_ request: URLRequest) {
        requestNewBodyStream(from: nil) { [self] stream in
            guard !isOver else { return }
            guard let stream = stream ?? request.httpBodyStream else {
                return end(
                    with: LoadFailure(
                        .requestBodyStreamExhausted,
                        "the upload has no body: the delegate gave no stream (needNewBodyStream)"))
            }
            var request = request
            request.httpBodyStream = stream
            load(changed: request)
        }
    }
}
