import Foundation
import LoadingKit

extension SoakLoad {
    /// The server compares the body, and answers with its length.
    func upload(_ send: (URLSession, URLRequest, Data) async throws -> (Data, URLResponse)) async throws {
        var request = URLRequest(url: url("upload"))
        request.httpMethod = "POST"
        let (data, response) = try await send(session, request, SoakContent.prefix(size))
        try checkStatus(response)
        let answer = String(decoding: data, as: UTF8.self)
        try SoakContent.check(answer == "\(size) right", "the server received \(answer)")
    }

    func uploadFile() async throws {
        let path = "\(plan.folder)/\(size)"
        try await upload { session, request, _ in
            try await session.upload(for: request, fromFile: URL(fileURLWithPath: path))
        }
    }

    func uploadStream() async throws {
        try await upload { session, request, data in
            var request = request
            request.httpBodyStream = InputStream(data: data)
            return try await session.data(for: request)
        }
    }

    func download() async throws {
        let (place, response) = try await session.download(from: file)
        try checkStatus(response)
        try takeFile(at: place)
    }

    private func takeFile(at place: URL) throws {
        defer { try? FileManager.default.removeItem(at: place) }
        try SoakContent.check(try Data(contentsOf: place), size)
    }

    /// Cancelled after its first bytes, and continued.
    func resumedDownload() async throws {
        let receiver = SoakDownload()
        let task = session.downloadTask(with: url("slow/\(size)"))
        task.delegate = receiver
        task.resume()
        for await _ in receiver.events.stream { break }
        guard let data = await task.cancelByProducingResumeData() else {
            // It has finished, or failed with its session, before.
            if let error = task.error as? URLError, error.code != .cancelled { throw error }
            return
        }
        let (place, response) = try await session.download(resumeFrom: data)
        try checkStatus(response, [200, 206])
        try takeFile(at: place)
    }

    func cancelledDownload() async throws {
        let (session, file) = (session, url("slow/\(size)"))
        let load = Task { try await session.download(from: file).0 }
        try? await Task.sleep(for: .milliseconds(chance % 30))
        load.cancel()
        try takeFile(at: try await load.value)
    }

    /// A request over a connection of its own.
    func stream() async throws {
        guard let host = base.host, let port = base.port else { return }
        let task = session.streamTask(withHostName: host, port: port)
        task.resume()
        defer { task.cancel() }
        try await task.write(Data("GET /files/\(size) HTTP/1.0\r\n\r\n".utf8), timeout: 60)
        var (data, isAtEnd) = (Data(), false)
        while !isAtEnd {
            let part = try await task.readData(ofMinLength: 1, maxLength: 65_536, timeout: 60)
            data += part.0 ?? Data()
            isAtEnd = part.1
        }
        guard let head = data.range(of: Data("\r\n\r\n".utf8)) else { throw SoakFault("a stream without a head") }
        try SoakContent.check(Data(data[head.upperBound...]), size)
    }

    /// An echo of some messages.
    func webSocket() async throws {
        var parts = URLComponents(url: url("socket"), resolvingAgainstBaseURL: true)
        parts?.scheme = base.scheme == "http" ? "ws" : "wss"
        guard let url = parts?.url else { return }
        let task = session.webSocketTask(with: url)
        task.resume()
        defer { task.cancel(with: .normalClosure, reason: nil) }
        for size in [1, 100, 1024, 60_000, 100_000] {
            try await task.send(.data(SoakContent.prefix(size)))
            guard case .data(let data) = try await task.receive() else { throw SoakFault("a message of text") }
            try SoakContent.check(data, size)
        }
    }
}

/// Tells of a download's first bytes, and of its end.
final class SoakDownload: NSObject, URLSessionDownloadDelegate {
    let events = AsyncStream<Void>.makeStream()

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        events.continuation.yield()
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        try? FileManager.default.removeItem(at: location)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        events.continuation.finish()
    }
}
