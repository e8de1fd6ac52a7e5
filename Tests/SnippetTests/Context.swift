import Foundation
import LoadingKit
import LoadingKitResilience
import LoadingKitTesting

// The values that snippets of the documentation use without declaring them.

let url = URL(string: "https://example.org/") ?? file
let request = URLRequest(url: url)
let file = URL(fileURLWithPath: "file")
let film = URL(fileURLWithPath: "film.mp4")
let picture = URL(fileURLWithPath: "picture.jpg")
let note = URL(fileURLWithPath: "note.json")
let body = Data()
let password = "secret"
var configuration: URLSessionConfiguration { .default }
let session = URLSession.shared
let delegate = Delegate()
let pins: Set<Data> = []
let hashOfOurAuthority = Data()
let hashOfTheNext = Data()
let recorder = Recorder()

final class Delegate: NSObject, URLSessionDownloadDelegate {
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    }
}

struct User: Codable, Sendable { let name: String }

struct Recorder: Sendable {
    func pieces() async throws -> AsyncThrowingStream<Data, any Error> { AsyncThrowingStream { $0.finish() } }
}

func signIn() async throws -> BearerToken { BearerToken("token") }

func completionHandler(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {}

final class GreetingHandler: URLProtocolHandler, @unchecked Sendable {  // stateless
    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "greeting" }
    override func load(_ load: LoadContext) async throws {
        try await load.receive(
            URLResponse(url: load.url, mimeType: "text/plain", expectedContentLength: 5, textEncodingName: "utf-8"))
        try await load.receive(Data("hello".utf8))
    }
}
