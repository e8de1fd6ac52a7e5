import Foundation
import LoadingKit
import Synchronization

/// Receives one task's result, and acts at its first bytes.
final class Receiver: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    private struct State {
        var data = Data()
        var hasBegun = false
        var resumeData: Data?
        var continuation: CheckedContinuation<String, Never>?
    }

    private let state = Mutex(State())
    private let atFirstBytes: @Sendable () -> Void
    private let whenWaiting: @Sendable () -> Void

    init(atFirstBytes: @escaping @Sendable () -> Void = {}, whenWaiting: @escaping @Sendable () -> Void = {}) {
        (self.atFirstBytes, self.whenWaiting) = (atFirstBytes, whenWaiting)
    }

    /// The data with which a failed download continues.
    var resumeData: Data? { state.withLock { $0.resumeData } }

    /// The result in short.
    func load(_ url: URL, _ session: URLSession) async -> String { await run(session.dataTask(with: url)) }

    func run(_ task: URLSessionTask) async -> String {
        task.delegate = self
        return await withCheckedContinuation { continuation in
            state.withLock { $0.continuation = continuation }
            task.resume()
        }
    }

    private func begin() {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        if isFirst { atFirstBytes() }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.data.append(data) }
        begin()
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        begin()
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let data = (try? Data(contentsOf: location)) ?? Data()
        try? FileManager.default.removeItem(at: location)
        state.withLock { $0.data = data }
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        print("waiting")
        whenWaiting()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (data, continuation) = state.withLock { state in
            state.resumeData = (error as? URLError)?.downloadTaskResumeData
            return (state.data, state.continuation)
        }
        continuation?.resume(returning: Self.text(data, error))
    }

    private static func text(_ data: Data, _ error: (any Error)?) -> String {
        if let error { return "failed \((error as? URLError).map { "\($0.code.rawValue)" } ?? "\(error)")" }
        if data.count < 10 { return "loaded \(String(decoding: data, as: UTF8.self))" }
        return data.elementsEqual(ServerHost.file) ? "loaded file" : "loaded \(data.count) wrong bytes"
    }
}
