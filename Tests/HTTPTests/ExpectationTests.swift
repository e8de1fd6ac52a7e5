import Foundation
import LoadingKit
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitHTTP

/// `Expect: 100-continue` goes only with a body (RFC 9110 §10.1.1).
@Suite struct ExpectationTests {
    private static var long: RequestBody { .data(Data(count: 2 << 20)) }

    private static func transaction(_ expectation: String? = nil) -> HTTPTransaction {
        var transaction = HTTPTransaction()
        if let expectation { transaction.fields.append(.expect, expectation) }
        return transaction
    }

    @Test func theCallersOwn() {
        let short = RequestBody.data(Data("a".utf8))
        let cases: [(expectation: String, RequestBody, isSent: Bool, waits: Bool)] = [
            ("100-continue", short, true, true), ("100-Continue", .none, false, false),
            ("100-continue", .data(Data()), false, false), ("another", .none, true, false),
        ]
        for (expectation, body, isSent, waits) in cases {
            var transaction = Self.transaction(expectation)
            let isAwaited = transaction.decideContinue(body, isRefused: false, asksForLongBodies: true)
            #expect(isAwaited == waits, "\(expectation)")
            #expect(transaction.fields.contains(.expect) == isSent, "\(expectation)")
            #expect(transaction.fieldsToSendAgain.contains(.expect) == isSent, "\(expectation)")
        }
    }

    /// The library's own is decided anew for the next connection, which may be of HTTP/2.
    @Test func theLibrarysOwn() {
        var transaction = Self.transaction()
        let isAwaited = transaction.decideContinue(Self.long, isRefused: false, asksForLongBodies: true)
        #expect(isAwaited)
        #expect(transaction.fields.contains(.expect) && !transaction.fieldsToSendAgain.contains(.expect))
        var again = HTTPTransaction(fields: transaction.fieldsToSendAgain)
        let isAwaitedAgain = again.decideContinue(Self.long, isRefused: false, asksForLongBodies: false)
        #expect(!isAwaitedAgain)
        #expect(!again.fields.contains(.expect))
    }

    @Test func aRedirectToGETHasNone() async throws {
        let peer = try ScriptedPeer(scripts: [
            [.expectHead, .send("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"), .readUntilClose],
            [.expectRequest, .respond("got")],
        ])
        defer { peer.stop() }
        // The time to wait for the server's word is never over.
        let loop = EventLoop.still()
        defer { loop.stop() }
        try await withTimeout {
            let session = makeSession(on: loop)
            defer { session.invalidateAndCancel() }
            var request = peer.request(method: "POST")
            request.httpBody = Data("body".utf8)
            request.setValue("100-continue", forHTTPHeaderField: "Expect")
            #expect(await session.outcome(request) == .ok("got"))
        }
        #expect(peer.requests.snapshot.map { $0[field: "Expect"] } == ["100-continue", nil])
    }
}
