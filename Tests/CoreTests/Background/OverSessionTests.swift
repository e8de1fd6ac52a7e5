import Foundation
import LoadingKitPrimitives
import Testing

@testable import LoadingKitCore

/// No task of any kind stays `running` without a callback, where its session is over.
@Suite struct OverSessionTests {
    enum Kind: CaseIterable {
        case data, upload, download, webSocket, stream

        func task(_ session: URLSession) -> URLSessionTask {
            let url = TransferRecord.url
            return switch self {
            case .data: session.dataTask(with: url)
            case .upload: session.uploadTask(with: URLRequest(url: url), from: Data())
            case .download: session.downloadTask(with: url)
            case .webSocket: session.webSocketTask(with: url)
            case .stream: session.streamTask(withHostName: "127.0.0.1", port: 1)
            }
        }
    }

    /// - Parameter isEarly: Whether the task was made before the session was invalidated, and is resumed after that.
    @Test(arguments: Kind.allCases, [false, true]) func aTaskEnds(_ kind: Kind, isEarly: Bool) async throws {
        let (delegate, own) = (BackgroundDelegate(), BackgroundDelegate())
        var (calls, ends) = (delegate.calls.makeAsyncIterator(), own.calls.makeAsyncIterator())
        let session = URLSession(
            configuration: URLSessionConfiguration(settings: SessionSettings()), delegate: delegate, delegateQueue: nil)
        let early = isEarly ? kind.task(session) : nil
        early?.delegate = own
        session.invalidateAndCancel()
        while let call = await calls.next(), !call.hasPrefix("invalid") {}
        let task = early ?? kind.task(session)
        task.delegate = own
        task.resume()
        while let call = await ends.next(), !call.hasPrefix("completed") {}
        #expect(task.state == .completed)
    }

    @Test(arguments: Kind.allCases) func aTaskWithAHandlerEnds(_ kind: Kind) async throws {
        let session = URLSession(configuration: URLSessionConfiguration(settings: SessionSettings()))
        session.invalidateAndCancel()
        let url = TransferRecord.url
        let error: (any Error)? = await withCheckedContinuation {
            (continuation: CheckedContinuation<(any Error)?, Never>) in
            switch kind {
            case .data: session.dataTask(with: url) { continuation.resume(returning: $2) }.resume()
            case .upload:
                session.uploadTask(with: URLRequest(url: url), from: Data()) { continuation.resume(returning: $2) }
                    .resume()
            case .download: session.downloadTask(with: url) { continuation.resume(returning: $2) }.resume()
            case .webSocket:
                let task = session.webSocketTask(with: url)
                task.receive { result in
                    if case .failure(let error) = result { continuation.resume(returning: error) }
                }
                task.resume()
            case .stream:
                let task = session.streamTask(withHostName: "127.0.0.1", port: 1)
                task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) { continuation.resume(returning: $2) }
                task.resume()
            }
        }
        #expect(error != nil)
    }
}
