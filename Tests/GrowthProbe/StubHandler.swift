import Foundation
import LoadingKit
import LoadingKitCore

/// Loads `stub:` URLs with as little work as a handler can have: `stub:answer` has an empty body, `stub:redirect` leads there,
/// and `stub:hang` never answers.
final class StubHandler: URLProtocolHandler, LoopNativeHandler, @unchecked Sendable {  // stateless
    override class func canInit(with request: URLRequest) -> Bool { request.url?.hasScheme("stub") ?? false }

    static func makeLoad(_ request: URLRequest, _ resources: LoadResources) -> any LoopHandler { StubLoad(request) }
}

private final class StubLoad: LoopHandler {
    private let request: URLRequest

    init(_ request: URLRequest) { self.request = request }

    func begin(_ receiver: any LoadReceiver) {
        guard let url = request.url else { return }
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        switch url.absoluteString {
        case "stub:answer":
            _ = receiver.receive(response)
            receiver.finish()
        case "stub:redirect":
            receiver.redirect(to: Stub.answer.request, refusal: nil, response: response) { _ in }
        case _: break
        }
    }

    func end() {}
    func receiverDidBlock() {}
    func receiverDidBecomeReady() {}
}

/// What a `stub:` URL does.
enum Stub: String {
    case answer, redirect, hang

    var request: URLRequest { URLRequest(url: URL(string: "stub:\(rawValue)") ?? URL(fileURLWithPath: "/")) }
}
