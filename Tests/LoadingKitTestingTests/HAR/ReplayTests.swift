import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTesting
import Testing

@Suite struct ReplayTests {
    private func session(_ player: HARPlayer) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        player.install(in: configuration)
        return URLSession(configuration: configuration)
    }

    private func recorded(
        _ url: String, method: String = "GET", body: String? = nil, type: String = "text/plain", answer: String
    ) -> HAREntry {
        HAREntry(
            startedDateTime: HARDate(Date()),
            request: HARRequest(
                method: method, url: url, postData: body.map { HARPostData(mimeType: type, text: $0) }),
            response: HARResponse(
                status: 200, headers: [HARNameValue(name: "Content-Type", value: "text/plain")],
                content: HARContent(size: answer.utf8.count, mimeType: "text/plain", text: answer)))
    }

    private struct Seen: Equatable {
        var status: Int
        var data: Data
        var url: String
        var fields: [String: String]

        init(_ loaded: (Data, URLResponse)) {
            data = loaded.0
            url = loaded.1.url?.absoluteString ?? ""
            let head = loaded.1 as? HTTPURLResponse
            status = head?.statusCode ?? 0
            fields = (head?.allHeaderFields ?? [:]).reduce(into: [:]) { $0["\($1.key)"] = "\($1.value)" }
        }
    }

    /// Without the server, a session gets the same responses from the recording.
    @Test func whatWasRecordedIsReplayed() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/redirect": return .redirect(to: "/text?token=s3cret", status: 303)
            case "/gzip": return try .gzip(Array("coded".utf8))
            case "/binary": return .bytes([0, 200, 255])
            case "/none": return ServerResponse(204)
            case "/missing": return .text("not here", status: 404)
            default: return .text("\(request.method) \(request.bodyText) é").adding("X-A", "1").adding("X-A", "2")
            }
        }
        let form = ["Content-Type": "application/x-www-form-urlencoded"]
        let sent = [
            request(server.url("/text?b=2&a=1")), request(server.url("/text"), method: "HEAD"),
            request(server.url("/redirect"), method: "POST", fields: form, body: "user=ann&password=s3cret"),
            request(server.url("/gzip")), request(server.url("/binary")), request(server.url("/none")),
            request(server.url("/missing")),
            request(server.url("/text"), method: "PUT", body: #"{"a":1,"token":"s3cret"}"#),
        ]
        let recorder = HARRecorder()
        let configuration = URLSessionConfiguration.ephemeral
        recorder.install(in: configuration)
        let live = URLSession(configuration: configuration)
        var original: [Seen] = []
        for request in sent { original.append(Seen(try await live.data(for: request))) }
        server.stop()

        let text = recorder.log.data
        let player = HARPlayer(try HARLog(data: text))
        let replayed = session(player)
        var again: [Seen] = []
        for request in sent { again.append(Seen(try await replayed.data(for: request))) }
        #expect(original.map(\.data) == again.map(\.data))
        #expect(original.map(\.status) == again.map(\.status))
        #expect(original.map(\.fields) == again.map(\.fields))
        // The target of the redirect has a secret.
        #expect(original.map { $0.url.replacingOccurrences(of: "s3cret", with: "(redacted)") } == again.map(\.url))
        try player.verify()
        #expect(!String(decoding: text, as: UTF8.self).contains("password=s3cret"))
    }

    @Test func aBrowsersExportIsReplayed() async throws {
        let player = HARPlayer(try HARLog(data: ChromeExport.data))
        let session = session(player)
        let (items, response) = try await session.data(from: url("https://shop.test/old?a=1&b=2"))
        #expect(items == Data(#"{"items": ["café", "tea"]}"#.utf8))
        #expect(response.url == url("https://shop.test/items"))
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Set-Cookie") == "a=1; Path=/, b=2")
        #expect(response.expectedContentLength == -1)
        let cart = request("https://shop.test/cart", method: "POST", body: #"{ "count": 2, "item": "tea" }"#)
        let (image, created) = try await session.data(for: cart)
        #expect(image == Data([0x89, 0x50, 0x4E, 0x47]))
        #expect((created as? HTTPURLResponse)?.statusCode == 201)
        let error = await failure { _ = try await session.data(from: url("https://ads.test/x")) }
        #expect((error as? URLError)?.code == .cannotFindHost)
        try player.verify()
    }

    @Test func strictReplayGoesInOrder() async throws {
        let texts = Texts()
        let player = HARPlayer(
            HARLog(entries: [
                recorded("http://a.test/1", answer: "one"),
                recorded("http://a.test/2", method: "POST", body: #"{"n":1}"#, type: "application/json", answer: "two"),
            ])
        ) { texts.append($0) }
        let session = session(player)
        let early = await failure { _ = try await session.data(from: url("http://a.test/2")) }
        #expect(
            early?.localizedDescription == """
                Unexpected request: GET http://a.test/2
                  Nearest entry, the next one in order: GET http://a.test/1 (number 1 of 2)
                  URL
                      - http://a.test/1
                      + http://a.test/2
                """)
        #expect(try await session.data(from: url("http://a.test/1")).0 == Data("one".utf8))
        let other = await failure {
            _ = try await session.data(for: request("http://a.test/2", method: "POST", body: #"{"n":2}"#))
        }
        #expect(other?.localizedDescription.contains("body at $.n\n      - 1\n      + 2") == true)
        #expect(player.unplayed == ["POST http://a.test/2"])
        let error = #expect(throws: HARReplayError.self) { try player.verify() }
        #expect(error?.unexpected.count == 2)
        #expect(error?.description.contains("Not played of the recording: 1\n  POST http://a.test/2") == true)
        #expect(texts.all.count == 2)
        _ = try await session.data(for: request("http://a.test/2", method: "POST", body: #"{ "n": 1.0 }"#))
        let late = await failure { _ = try await session.data(from: url("http://a.test/1")) }
        #expect(late?.localizedDescription.contains("at its end") == true)
    }

    @Test func lenientReplayTakesTheNearest() async throws {
        let player = HARPlayer(
            HARLog(entries: [
                recorded("http://a.test/poll", answer: "wait"), recorded("http://a.test/poll", answer: "done"),
                recorded("http://a.test/x", method: "POST", body: "a", answer: "A"),
                recorded("http://a.test/x", method: "POST", body: "b", answer: "B"),
            ]), options: .init(matching: .lenient))
        let session = session(player)
        func post(_ body: String) async throws -> String {
            let sent = request("http://a.test/x", method: "POST", body: body)
            return String(decoding: try await session.data(for: sent).0, as: UTF8.self)
        }
        var seen: [String] = [try await post("b"), try await post("b"), try await post("c"), try await post("a")]
        for _ in 0..<4 {
            seen.append(String(decoding: try await session.data(from: url("http://a.test/poll")).0, as: UTF8.self))
        }
        #expect(seen == ["B", "B", "A", "A", "wait", "done", "done", "done"])
        let error = await failure { _ = try await session.data(from: url("http://a.test/pol")) }
        #expect(error?.localizedDescription.contains("- http://a.test/poll\n      + http://a.test/pol") == true)
    }

    @Test func aThousandAtOnceAreReplayed() async throws {
        let log = HARLog(entries: (0..<1_000).map { recorded("http://a.test/\($0)", answer: "\($0)") })
        let player = HARPlayer(log, options: .init(matching: .lenient))
        let session = session(player)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    try await session.data(from: url("http://a.test/\(number)")).0 == Data("\(number)".utf8)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        try player.verify()
    }

    /// A redacted value stands for any, in each place where there may be one; others do not.
    @Test func redactedValuesStandForAny() async throws {
        let json = "application/json", form = "application/x-www-form-urlencoded"
        let multipart = "multipart/form-data; boundary=old"
        func parts(_ boundary: String, _ password: String) -> String {
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n\(password)\r\n"
                + "--\(boundary)\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n1\r\n--\(boundary)--\r\n"
        }
        let rows: [(HAREntry, URLRequest, Bool)] = [
            (recorded("http://a.test/?token=(redacted)&n=1", answer: ""), request("http://a.test/?n=1&token=x"), true),
            (recorded("http://a.test/?token=(redacted)&n=1", answer: ""), request("http://a.test/?n=2&token=x"), false),
            (recorded("http://a.test/?token=(redacted)", answer: ""), request("http://a.test/"), false),
            (recorded("http://(redacted)@a.test/", answer: ""), request("http://u:p@a.test/"), true),
            (
                recorded(
                    "http://a.test/", method: "POST", body: #"{"token":"(redacted)","n":1}"#, type: json, answer: ""),
                request("http://a.test/", method: "POST", body: #"{"n":1,"token":"x"}"#), true
            ),
            (
                recorded(
                    "http://a.test/", method: "POST", body: #"{"token":"(redacted)","n":1}"#, type: json, answer: ""),
                request("http://a.test/", method: "POST", body: #"{"n":1}"#), false
            ),
            (
                recorded("http://a.test/", method: "POST", body: "n=1&password=(redacted)", type: form, answer: ""),
                request("http://a.test/", method: "POST", body: "password=x&n=1"), true
            ),
            (
                recorded("http://a.test/", method: "POST", body: "n=1&password=(redacted)", type: form, answer: ""),
                request("http://a.test/", method: "POST", body: "password=x&n=2"), false
            ),
            (
                recorded(
                    "http://a.test/", method: "POST", body: parts("old", "(redacted)"), type: multipart, answer: ""),
                request(
                    "http://a.test/", method: "POST", fields: ["Content-Type": "multipart/form-data; boundary=new"],
                    body: parts("new", "x")), true
            ),
        ]
        for (entry, request, isMatch) in rows {
            let error = await failure {
                _ = try await session(HARPlayer(HARLog(entries: [entry]))).data(for: request)
            }
            #expect((error == nil) == isMatch, "\(entry.request.url) \(entry.request.postData?.text ?? "")")
        }
    }

    @Test func aBodyThatWasNotRecordedFails() async throws {
        var missing = recorded("http://a.test/", answer: "")
        missing.response.content = HARContent(size: 10, mimeType: "text/plain")
        let log = HARLog(entries: [missing, missing])
        let error = await failure { _ = try await session(HARPlayer(log)).data(from: url("http://a.test/")) }
        #expect(error is HARError)
        #expect(error?.localizedDescription.contains("does not have the body of GET http://a.test/ (10 bytes") == true)
        var options = HARPlayer.Options()
        options.allowsMissingBodies = true
        let (data, _) = try await session(HARPlayer(log, options: options)).data(from: url("http://a.test/"))
        #expect(data.isEmpty)
    }

    @Test func timingsCanBeKept() async throws {
        let clock = ManualClock()
        var options = HARPlayer.Options()
        (options.keepsTimings, options.clock) = (true, clock)
        var slow = recorded("http://a.test/", answer: "late")
        slow.timings.wait = 1_500
        let session = session(HARPlayer(HARLog(entries: [slow]), options: options))
        async let loaded = session.data(from: url("http://a.test/"))
        await clock.waitForSleepers()
        clock.advance(by: .milliseconds(1_499))
        #expect(clock.sleepers == 1)
        clock.advance(by: .milliseconds(1))
        #expect(try await loaded.0 == Data("late".utf8))
    }

    @Test func recordedFailuresFailAgain() async throws {
        var failed = recorded("http://a.test/", answer: "")
        failed.response = HARResponse(status: 0)
        failed.response.others = ["_error": "it timed out", "_urlErrorCode": -1_001]
        let error = await failure {
            _ = try await session(HARPlayer(HARLog(entries: [failed]))).data(from: url("http://a.test/"))
        }
        #expect((error as? URLError)?.code == .timedOut)
        #expect(error?.localizedDescription == "it timed out (as it was recorded)")
    }
}
