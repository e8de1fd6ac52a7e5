import Foundation
import LoadingKit
import LoadingKitCore
import TestSupport
import Testing

/// A load that fails while the delegate decides about its redirect.
@Suite struct LateRedirectTests {
    private final class Decider: NSObject, URLSessionTaskDelegate {
        let follows: Bool

        init(follows: Bool) { self.follows = follows }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(follows ? request : nil)
        }
    }

    /// The redirect is followed, also where the session would otherwise wait for a network.
    @Test(arguments: [URLError.networkConnectionLost, URLError.notConnectedToInternet], [true, false])
    func theDelegateDecides(code: URLError.Code, follows: Bool) async throws {
        try await load(code, follows: follows) { $0.waitsForConnectivity = true }
    }

    private struct Forwarder: LoadInterceptor {
        func load(_ load: LoadContext) async throws { try await load.receive(load.next.load(load.request)) }
    }

    /// An interceptor gets the failure when the delegate has declined.
    @Test(arguments: [true, false]) func theDelegateDecidesBehindAnInterceptor(follows: Bool) async throws {
        try await load(.networkConnectionLost, follows: follows) { $0.interceptors = [Forwarder()] }
    }

    private func load(
        _ code: URLError.Code, follows: Bool, _ configure: (URLSessionConfiguration) -> Void
    ) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [FailingHandler.self]
        configure(configuration)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        try await withTimeout("\(code.rawValue)") {
            let url = try #require(URL(string: "failing://test/\(code.rawValue)"))
            let decider = Decider(follows: follows)
            if follows {
                let (data, response) = try await session.data(from: url, delegate: decider)
                #expect(data == Data("new".utf8) && response.url?.path == "/new")
            } else {
                let error = await #expect(throws: URLError.self) {
                    try await session.data(from: url, delegate: decider)
                }
                #expect(error?.code == code)
            }
        }
    }
}

/// Redirects to `/new` from other paths, and then fails with the code in the path.
private final class FailingHandler: URLProtocolHandler, LoopNativeHandler, @unchecked Sendable {  // stateless
    override class func canInit(with request: URLRequest) -> Bool { request.url?.hasScheme("failing") ?? false }

    static func makeLoad(_ request: URLRequest, _ resources: LoadResources) -> any LoopHandler { FailingLoad(request) }
}

private final class FailingLoad: LoopHandler {
    private let request: URLRequest
    private var receiver: (any LoadReceiver)?

    init(_ request: URLRequest) { self.request = request }

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        let code = request.url.flatMap { Int($0.lastPathComponent) }.flatMap { URLError.Code(rawValue: $0) }
        guard let url = request.url,
            let head = HTTPURLResponse(
                url: url, statusCode: code == nil ? 200 : 302, httpVersion: nil, headerFields: nil)
        else { return }
        guard let code else {
            if receiver.receive(head) == .more { receiverDidBecomeReady() }
            return
        }
        var next = request
        next.url = URL(string: "/new", relativeTo: url)?.absoluteURL
        receiver.redirect(to: next, refusal: nil, response: head) { _ in }
        receiver.fail(URLError(code))
    }

    func end() { receiver = nil }
    func receiverDidBlock() {}

    func receiverDidBecomeReady() {
        _ = receiver?.receive(Data("new".utf8))
        receiver?.finish()
    }
}
