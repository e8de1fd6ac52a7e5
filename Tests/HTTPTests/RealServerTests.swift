import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// nginx: long bodies arrive whole whichever way they are loaded.
@Suite struct RealServerTests {
    /// Hashes what it is given, and keeps nothing of it.
    private final class Hasher: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // one queue calls it
        let done = Recorder<String>()
        private let digest: SHA256
        private var count = 0

        init(_ digest: SHA256) { self.digest = digest }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            digest.update(data)
            count += data.count
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            done.append(error.map { "\($0)" } ?? "\(count) \(digest.finish())")
        }
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            state = state &* 6_364_136_223_846_793_005 &+ 1
            withUnsafeBytes(of: state) { bytes.append(contentsOf: $0) }
        }
        return Array(bytes.prefix(count))
    }

    @Test(arguments: ["http/1.1", "h2"]) func aLongBodyIsTheSameByEveryWay(version: String) async throws {
        let body = Self.bytes(5_000_001)
        let expected = "\(body.count) \(try SHA256.hash(body))"
        let authority = try CertificateAuthority()
        let server = try await onThread {
            try NginxServer(
                files: ["long.bin": body], identity: try authority.issue(), speaksHTTP2: version == "h2")
        }
        defer { server.stop() }
        for text in [server.url("/long.bin"), try #require(server.secureURL("/long.bin"))] {
            let url = try #require(URL(string: text))
            try await withTimeout(text) {
                let hasher = Hasher(try SHA256())
                let session = makeSession(delegate: hasher) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
                defer { session.invalidateAndCancel() }

                let (data, response) = try await session.data(from: url)
                #expect("\(data.count) \(try SHA256.hash(data))" == expected)
                #expect((response as? HTTPURLResponse)?.expectedContentLength == 5_000_001)

                session.dataTask(with: url).resume()
                #expect(await hasher.done.element(at: 0) == expected)

                let hash = try SHA256()
                var count = 0
                var piece: [UInt8] = []
                for try await byte in try await session.bytes(from: url).0 {
                    piece.append(byte)
                    count += 1
                    if piece.count == 65_536 {
                        hash.update(piece)
                        piece.removeAll(keepingCapacity: true)
                    }
                }
                hash.update(piece)
                #expect("\(count) \(hash.finish())" == expected)
            }
        }
    }

    @Test func rangesAndConditionsAreTheServersMatter() async throws {
        let server = try await onThread { try NginxServer(files: ["a.txt": Array("0123456789".utf8)]) }
        defer { server.stop() }
        let session = makeSession()
        try await withTimeout {
            var request = URLRequest(url: try #require(URL(string: server.url("/a.txt"))))
            request.setValue("bytes=2-4", forHTTPHeaderField: "Range")
            #expect(await session.outcome(request) == .loaded(status: 206, body: "234"))
            let (_, response) = try await session.data(from: try #require(request.url))
            let tag = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "etag")
            request = URLRequest(url: try #require(request.url))
            request.setValue(tag, forHTTPHeaderField: "If-None-Match")
            request.cachePolicy = .reloadIgnoringLocalCacheData
            #expect(await session.outcome(request) == .loaded(status: 304, body: ""))
        }
    }
}
