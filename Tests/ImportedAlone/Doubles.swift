import Foundation
import LoadingKit

// Doubles as the tests of programs write them. That they compile is most of the test: they override members, and call or
// inherit initializers, as with FoundationNetworking.

private final class MockTask: URLSessionDataTask, @unchecked Sendable {  // no state
    override init() { super.init() }

    override var taskIdentifier: Int { 7 }
}

private final class MockSession: URLSession, @unchecked Sendable {  // a constant
    private let answer: Data

    init(answer: Data) {
        self.answer = answer
        super.init(configuration: .default)
    }

    override func dataTask(with request: URLRequest) -> URLSessionDataTask { MockTask() }

    override func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        completionHandler(answer, nil, nil)
        return URLSessionUploadTask()
    }

    override func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { URLSessionDownloadTask() }
}

private final class SpySession: URLSession, @unchecked Sendable {  // no state
    override func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        URLSessionStreamTask()
    }
}

private final class MockSpace: URLProtectionSpace, @unchecked Sendable {  // no state
    override var host: String { "mock.example" }
    override var serverTrust: ServerTrust? { nil }
}

private final class MockResponse: CachedURLResponse, @unchecked Sendable {  // no state
    override var data: Data { Data("mock".utf8) }
    override var storagePolicy: URLCache.StoragePolicy { .notAllowed }
}

private final class MockCache: URLCache, @unchecked Sendable {  // no state
    private static let own = MockCache(memoryCapacity: 5, diskCapacity: 0, diskPath: nil)

    override class var shared: URLCache {
        get { own }
        set { super.shared = newValue }
    }
}

private final class MockConfiguration: URLSessionConfiguration, @unchecked Sendable {  // no state
    override init() { super.init() }

    override var isDiscretionary: Bool {
        get { true }
        set { super.isDiscretionary = newValue }
    }
}

private final class MockMetrics: URLSessionTaskMetrics, @unchecked Sendable {}  // no state

public func doubles() -> [String] {
    let url = URL(fileURLWithPath: "/")
    let request = URLRequest(url: url)
    let session: URLSession = MockSession(answer: Data("answer".utf8))
    nonisolated(unsafe) var answers: [String] = []
    let upload = session.uploadTask(with: request, from: nil) { data, _, _ in
        answers.append(String(decoding: data ?? Data(), as: UTF8.self))
    }
    let spies: [URLSession] = [
        SpySession(configuration: .ephemeral), SpySession(configuration: .ephemeral, delegate: nil, delegateQueue: nil),
    ]
    let streams = spies.map { $0.streamTask(withHostName: "h.example", port: 1).taskIdentifier }
    let space: URLProtectionSpace = MockSpace(
        host: "h.example", port: 443, protocol: "https", realm: nil, authenticationMethod: nil)
    let response: CachedURLResponse = MockResponse(
        response: URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil), data: Data())
    let configuration: URLSessionConfiguration = MockConfiguration()
    return [
        answers.joined(), "\(upload.taskIdentifier)", "\(session.dataTask(with: url).taskIdentifier)",
        "\(session.downloadTask(with: url).taskIdentifier)", "\(streams)", space.host,
        "\(space.serverTrust == nil)", String(decoding: response.data, as: UTF8.self),
        "\(response.storagePolicy == .notAllowed)", "\(MockCache.shared.memoryCapacity)",
        "\(configuration.isDiscretionary)", "\(MockMetrics().redirectCount)",
        "\(URLSessionTaskMetrics().transactionMetrics.count)",
    ]
}
