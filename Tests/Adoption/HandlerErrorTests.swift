import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Subclasses that fail with errors of their own: the program gets those.
@Suite struct HandlerErrorTests {
    struct OwnError: Error, Equatable {
        var number = 7
    }

    /// As programs write them: the error is that of the path.
    class Classic: URLProtocol, @unchecked Sendable {  // stateless
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "classic" }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func startLoading() {
            client?.urlProtocol(self, didFailWithError: HandlerErrorTests.error(of: request))
        }
        override func stopLoading() {}
    }

    /// One that has sent a response and some data before it fails.
    final class Late: Classic, @unchecked Sendable {  // stateless
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "late" }
        override func startLoading() {
            guard let url = request.url else { return }
            let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 9, textEncodingName: nil)
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .allowed)
            client?.urlProtocol(self, didLoad: Data("some".utf8))
            super.startLoading()
        }
    }

    final class Modern: URLProtocolHandler, @unchecked Sendable {  // stateless
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "modern" }
        override func load(_ load: LoadContext) async throws { throw HandlerErrorTests.error(of: load.request) }
    }

    /// An interceptor, which passes on what it gets.
    final class Outer: URLProtocolHandler, @unchecked Sendable {  // stateless
        override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "outer" }
        override func load(_ load: LoadContext) async throws {
            let loaded = try await load.next.load(load.request)
            for try await _ in loaded.body {}
        }
    }

    static func error(of request: URLRequest) -> any Error {
        switch request.url?.lastPathComponent {
        case "own": OwnError()
        case "domain": NSError(domain: "com.example.own", code: 42, userInfo: ["why": "because"])
        case "url": NSError(domain: NSURLErrorDomain, code: NSURLErrorNotConnectedToInternet, userInfo: ["why": "so"])
        case "urlerror": URLError(.dataNotAllowed, userInfo: ["why": "so"])
        case "unknowncode": NSError(domain: NSURLErrorDomain, code: 12345)
        case "cocoa": CocoaError(.fileNoSuchFile)
        default: POSIXError(.ECONNRESET)
        }
    }

    /// What a program sees of an error.
    static func text(_ error: (any Error)?) -> String {
        switch error {
        case nil: "no error"
        case let error as OwnError: "own \(error.number)"
        case let error as URLError:
            "URLError \(error.code.rawValue) \(error.userInfo["why"] ?? "-") \(error.failingURL?.lastPathComponent ?? "-")"
        case let error as POSIXError: "posix \(error.code.rawValue)"
        case let error?:
            "\((error as NSError).domain) \((error as NSError).code) \((error as NSError).userInfo["why"] ?? "-")"
        }
    }

    static let cases = [
        ("own", "own 7"), ("domain", "com.example.own 42 because"), ("url", "URLError -1009 so url"),
        ("urlerror", "URLError -1020 so urlerror"), ("unknowncode", "NSURLErrorDomain 12345 -"),
        ("cocoa", "NSCocoaErrorDomain 4 -"),
        ("posix", "posix 104"),
    ]

    private static func makeSession(_ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Outer.self, Classic.self, Late.self, Modern.self]
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    @Test(arguments: ["classic://h", "late://h", "modern://h", "classic://outer", "late://outer", "modern://outer"])
    func eachConsumerGetsIt(_ base: String) async throws {
        let session = Self.makeSession()
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            for (path, expected) in Self.cases {
                let url = try #require(URL(string: "\(base)/\(path)"))
                var seen: [String] = []
                seen.append(await Self.failure { _ = try await session.data(from: url) })
                seen.append(await Self.failure { for try await _ in try await session.bytes(from: url).0 {} })
                seen.append(await Self.failure { _ = try await session.download(from: url) })
                seen.append(
                    await Self.failure { _ = try await session.upload(for: URLRequest(url: url), from: Data([1])) })
                let handled = Recorder<String>()
                session.dataTask(with: url) { handled.append(Self.text($2)) }.resume()
                session.downloadTask(with: url) { handled.append(Self.text($2)) }.resume()
                seen += await handled.count(reaches: 2)
                let delegate = Ends()
                for task in [session.dataTask(with: url), session.downloadTask(with: url)] {
                    task.delegate = delegate
                    task.resume()
                }
                seen += await delegate.ends.count(reaches: 2)
                #expect(seen == Array(repeating: expected, count: 8), "\(url)")
            }
        }
    }

    final class Ends: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
        let ends = Recorder<String>()
        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let isSame = text(task.error) == text(error)
            ends.append(isSame ? text(error) : "the task's error is \(text(task.error))")
        }
        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {}
        private func text(_ error: (any Error)?) -> String { HandlerErrorTests.text(error) }
    }

    private static func failure(_ load: () async throws -> Void) async -> String {
        do {
            try await load()
            return "loaded"
        } catch {
            return text(error)
        }
    }
}
