import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitHTTP

/// Range requests that are answered from stored responses, and responses to them that are stored.
@Suite struct CacheRangeTests {
    private static let content = Array("0123456789".utf8)

    /// A server with ten bytes that supports ranges.
    private static func route(_ fields: [String: String]) -> LoopbackServer.Route {
        { request in
            guard let range = request.fields[.range].flatMap(ByteRange.init)?.resolved(total: 10) else {
                return ServerResponse.bytes(content).adding(fields)
            }
            let part = Array(content[Int(range.lowerBound)..<Int(range.upperBound)])
            return ServerResponse.bytes(part, status: 206)
                .adding("Content-Range", ContentRange(range, total: 10).string).adding(fields)
        }
    }

    private static let fresh = ["Cache-Control": "max-age=10", "ETag": "\"a\""]

    @Test func areCutOutOfTheWhole() async throws {
        let test = try CachingSession(route: Self.route(Self.fresh))
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            let part = try await test.load("/", ["Range": "bytes=2-4"])
            #expect(part.status == 206 && part.body == "234" && part["Content-Range"] == "bytes 2-4/10")
            #expect(part["Content-Length"] == "3" && part.response.expectedContentLength == 3)
            let whole = try await test.load("/", ["Range": "bytes=2-4", "If-Range": "\"b\""])
            #expect(whole.status == 200 && whole.body == "0123456789" && test.count == 1)
            // Other ranges go to the server.
            try await test.load("/", ["Range": "bytes=20-"])
            #expect(test.count == 2)
        }
    }

    /// Records where the delegate's pieces begin.
    private final class Starts: NSObject, URLSessionDataDelegate {
        let indices = Recorder<Int>()
        let ended = Recorder<Bool>()

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            indices.append(data.startIndex)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ended.append(error == nil)
        }
    }

    /// A range of what is stored, and the stored beginning of an answer: the program's indices start at 0.
    @Test(arguments: ["bytes=0-9", "bytes=0-3"]) func haveIndicesFromZero(stored: String) async throws {
        let starts = Starts()
        let test = try CachingSession(delegate: starts, route: Self.route(Self.fresh))
        defer { test.stop() }
        try await withTimeout {
            for path in ["/whole", "/pieces"] { try await test.load(path, ["Range": stored]) }
            let (data, _) = try await test.session.data(for: test.request("/whole", ["Range": "bytes=2-6"]))
            #expect(data.startIndex == 0 && data == Data("23456".utf8))
            test.session.dataTask(with: test.request("/pieces", ["Range": "bytes=2-6"])).resume()
            #expect(await starts.ended.count(reaches: 1) == [true])
            let indices = starts.indices.snapshot
            #expect(!indices.isEmpty && indices.allSatisfy { $0 == 0 })
        }
    }

    @Test func addUpToTheWhole() async throws {
        let test = try CachingSession(route: Self.route(Self.fresh))
        defer { test.stop() }
        try await withTimeout {
            try await test.load("/", ["Range": "bytes=0-3"])
            let part = try await test.load("/", ["Range": "bytes=1-2"])
            #expect(part.body == "12" && part.response.expectedContentLength == 2)
            #expect(test.count == 1)
            #expect(test.cache.cachedResponse(for: test.request()) == nil)
            try await test.load("/", ["Range": "bytes=3-6"])
            #expect(try await test.load("/", ["Range": "bytes=1-5"]).body == "12345")
            #expect(test.count == 2)
            try await test.load("/", ["Range": "bytes=-3"])
            let whole = try await test.load()
            #expect(whole.status == 200 && whole.body == "0123456789" && test.count == 3)
            #expect(whole["Content-Range"] == nil && whole["Content-Length"] == "10")
        }
    }

    /// A part answers requests for what is in it. Without a strong tag parts may be of different representations: each
    /// replaces the one before, and none replaces the whole (RFC 9111 §3.3, §3.4).
    @Test(arguments: [["Cache-Control": "max-age=10"], ["Cache-Control": "max-age=10", "ETag": "W/\"a\""]])
    func withoutAStrongTagAnswerForThemselvesAlone(_ fields: [String: String]) async throws {
        let test = try CachingSession(route: Self.route(fields))
        defer { test.stop() }
        try await withTimeout { () async throws in
            for range in ["bytes=0-3", "bytes=0-3", "bytes=1-2"] {
                #expect(try await test.load("/", ["Range": range]).status == 206)
            }
            #expect(test.count == 1)
            try await test.load("/", ["Range": "bytes=2-5"])
            #expect(try await test.load("/", ["Range": "bytes=2-5"]).body == "2345")
            #expect(test.count == 2)
            #expect(try await test.load("/", ["Range": "bytes=0-5"]).body == "012345")
            #expect(try await test.load().body == "0123456789" && test.count == 4)
            // The whole is stored now, and it stays.
            try await test.load("/", ["Range": "bytes=20-"])
            try await test.load("/", ["Range": "bytes=0-3", "Cache-Control": "no-cache"])
            #expect(try await test.load().body == "0123456789" && test.count == 6)
        }
    }

    @Test func ofSomethingNewReplaceWhatIsStored() async throws {
        let tag = Guarded("a")
        let test = try CachingSession { request in
            try Self.route(["Cache-Control": "max-age=10", "ETag": "\"\(tag.withLock { $0 })\""])(request)
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load("/", ["Range": "bytes=0-3"])
            tag.withLock { $0 = "b" }
            try await test.load("/", ["Range": "bytes=4-6"])
            #expect(try await test.load("/", ["Range": "bytes=0-3"])["Age"] == nil)
            #expect(test.count == 3)
        }
    }
}
