import Foundation
import LoadingKit
import LoadingKitTransport
import TestSupport
import Testing

@Suite struct RedirectTests {
    private static func redirect(_ status: Int, _ location: String) -> ScriptedPeer.Step {
        .send("HTTP/1.1 \(status) Moved\r\nLocation: \(location)\r\nContent-Length: 2\r\n\r\nno")
    }

    @Test(arguments: RedirectCase.all) func methodsAndBodies(_ test: RedirectCase) async throws {
        let isHead = test.method == "HEAD"
        let redirect: ScriptedPeer.Step =
            isHead
            ? .send("HTTP/1.1 \(test.status) Moved\r\nLocation: /new\r\n\r\n") : Self.redirect(test.status, "/new")
        let answer: ScriptedPeer.Step = isHead ? .send("HTTP/1.1 200 OK\r\n\r\n") : .respond("new")
        let peer = try ScriptedPeer([.expectRequest, redirect, .expectRequest, answer])
        defer { peer.stop() }
        let session = makeSession()
        try await withTimeout {
            var request = peer.request("/old", method: test.method)
            if test.method == "POST" || test.method == "PUT" { request.httpBody = Data("body".utf8) }
            #expect(await session.outcome(request) == .ok(isHead ? "" : "new"))
            let second = try #require(await peer.receivedRequest(1))
            #expect(second.method == test.expected)
            #expect(second.target == "/new")
            #expect(second.bodyText == (test.keepsBody ? "body" : ""))
            #expect((second[field: "Content-Type"] != nil) == test.keepsBody)
            #expect(second.connection == 0)
        }
    }

    @Test func twentyRedirectsAreFollowedAndNoMore() async throws {
        for (count, outcome) in [(20, Outcome.ok("end")), (21, .failed(.httpTooManyRedirects))] {
            let hops = (0..<count).flatMap { [ScriptedPeer.Step.expectRequest, Self.redirect(302, "/\($0)")] }
            let peer = try ScriptedPeer(hops + [.expectRequest, .respond("end")])
            defer { peer.stop() }
            try await withTimeout { #expect(await makeSession().outcome(peer.request()) == outcome) }
        }
    }

    /// A delegate's second answer has nothing sent again.
    @Test func anAnswerCountsOnce() async throws {
        final class Hasty: NSObject, URLSessionDataDelegate {
            let received = Recorder<Data>()
            let ends = Recorder<URLError?>()
            let again = Recorder<@Sendable () -> Void>()

            func urlSession(
                _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
            ) {
                completionHandler(request)
                again.append { completionHandler(request) }
            }

            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                received.append(data)
            }

            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                ends.append(error as? URLError)
            }
        }
        let go = Signal()
        let peer = try ScriptedPeer(scripts: [
            [.expectRequest, Self.redirect(307, "/new"), .expectRequest, .waitFor(go), .respond("new"), .hold],
            [.forever([.expectRequest, .respond("again")])],
        ])
        defer { peer.stop() }
        // The time that the rest of the redirect may take is never over.
        let loop = EventLoop.still()
        defer { loop.stop() }
        try await withTimeout {
            let recorder = Hasty()
            let session = makeSession(delegate: recorder, on: loop)
            defer { session.invalidateAndCancel() }
            var request = peer.request("/old", method: "POST")
            request.httpBody = Data("body".utf8)
            session.dataTask(with: request).resume()
            _ = await peer.receivedRequest(1)
            let again = try #require(await recorder.again.element(at: 0))
            again()
            _ = await session.allTasks
            go.fire()
            #expect(await recorder.ends.element(at: 0) == .some(nil))
            #expect(recorder.received.snapshot == [Data("new".utf8)])
            #expect(peer.connections.count == 1)
        }
    }

    @Test func credentialsAndCookiesStayWithTheirOrigin() async throws {
        let other = try ScriptedPeer([.expectRequest, .respond("other")])
        let peer = try ScriptedPeer([
            .expectRequest, Self.redirect(302, "/same"), .expectRequest, Self.redirect(302, other.url("/other")),
        ])
        defer {
            peer.stop()
            other.stop()
        }
        try await withTimeout {
            var request = peer.request()
            for name in ["Authorization", "Cookie", "X-Own"] { request.setValue("secret", forHTTPHeaderField: name) }
            #expect(await makeSession().outcome(request) == .ok("other"))
            let same = try #require(await peer.receivedRequest(1))
            let crossed = try #require(await other.receivedRequest(0))
            #expect(same[field: "Authorization"] == "secret" && same[field: "Cookie"] == "secret")
            #expect(crossed[field: "Authorization"] == nil && crossed[field: "Cookie"] == nil)
            #expect(crossed[field: "X-Own"] == "secret")
        }
    }

    @Test func aRedirectToAnotherKindOfSchemeIsRefused() async throws {
        let cases: [(String, URLError.Code)] = [
            ("file:///etc/passwd", .redirectToNonExistentLocation), ("data:,hello", .redirectToNonExistentLocation),
            ("gopher://127.0.0.1/", .unsupportedURL),
        ]
        for (location, code) in cases {
            let peer = try ScriptedPeer([.expectRequest, Self.redirect(302, location)])
            defer { peer.stop() }
            try await withTimeout {
                #expect(await makeSession().outcome(peer.request()) == .failed(code))
            }
        }
    }

    /// Absolute locations have dot segments removed; bytes that are no UTF-8 are escaped as they came.
    @Test func locationsAreResolvedByteForByte() async throws {
        let cases: [(location: (String) -> [UInt8], target: String)] = [
            ({ Array($0.utf8) + Array("a/../b%20c d".utf8) }, "/b%20c%20d"),
            ({ Array($0.utf8) + [0x63, 0x61, 0x66, 0xe9] }, "/caf%E9"),
        ]
        for (location, target) in cases {
            let second = try ScriptedPeer([.expectRequest, .respond("new")])
            let head = Array("HTTP/1.1 302 Found\r\nLocation: ".utf8) + location(second.url("/"))
            let peer = try ScriptedPeer([
                .expectRequest, .send(head + Array("\r\nContent-Length: 0\r\n\r\n".utf8)),
            ])
            defer {
                peer.stop()
                second.stop()
            }
            try await withTimeout {
                #expect(await makeSession().outcome(peer.request()) == .ok("new"))
                #expect(await second.receivedRequest(0)?.target == target)
            }
        }
    }

    @Test func aRedirectWithoutALocationIsTheResponse() async throws {
        let peer = try ScriptedPeer([.expectRequest, .send("HTTP/1.1 302 Found\r\nContent-Length: 4\r\n\r\nhere")])
        defer { peer.stop() }
        try await withTimeout {
            #expect(await makeSession().outcome(peer.request()) == .loaded(status: 302, body: "here"))
        }
    }

    @Test func theFragmentGoesAlongUnlessThereIsANewOne() async throws {
        for (location, fragment) in [("/new", "old"), ("/new#new", "new")] {
            let peer = try ScriptedPeer([.expectRequest, Self.redirect(302, location), .expectRequest, .respond("")])
            defer { peer.stop() }
            try await withTimeout {
                let (_, response) = try await makeSession().data(for: peer.request("/#old"))
                #expect(response.url?.fragment == fragment)
            }
        }
    }

    private final class Decider: NSObject, URLSessionTaskDelegate {
        let seen = Recorder<String>()
        let change: @Sendable (URLRequest) -> URLRequest?
        init(_ change: @escaping @Sendable (URLRequest) -> URLRequest?) { self.change = change }
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            seen.append("\(response.statusCode) \(request.url?.path ?? "")")
            completionHandler(change(request))
        }
    }

    @Test func theDelegateMayDeclineAndGetsTheResponseItself() async throws {
        let peer = try ScriptedPeer([.expectRequest, Self.redirect(302, "/new"), .expectRequest, .respond("next")])
        defer { peer.stop() }
        let decider = Decider { _ in nil }
        let session = makeSession(delegate: decider)
        try await withTimeout {
            #expect(await session.outcome(peer.request()) == .loaded(status: 302, body: "no"))
            #expect(decider.seen.snapshot == ["302 /new"])
            #expect(await session.outcome(peer.request()) == .ok("next"))
        }
        session.invalidateAndCancel()
    }

    @Test func theDelegateMayChangeTheRequest() async throws {
        let peer = try ScriptedPeer([.expectRequest, Self.redirect(302, "/new"), .expectRequest, .respond("changed")])
        defer { peer.stop() }
        let decider = Decider { request in
            var request = request
            request.url = request.url?.appendingPathComponent("more")
            return request
        }
        try await withTimeout {
            let (data, _) = try await makeSession().data(for: peer.request(), delegate: decider)
            #expect(String(decoding: data, as: UTF8.self) == "changed")
            #expect(await peer.receivedRequest(1)?.target == "/new/more")
        }
    }
}
