#if Telemetry
    import Foundation
    import LoadingKit
    import Testing

    @testable import LoadingKitTelemetry

    @Suite struct FactsTests {
        @Test func urlsAreRedacted() throws {
            let redaction = URLRedaction(secretNames: TelemetryOptions().secretNames)
            var wrong: [String] = []
            for (text, expected) in [
                ("https://h/", "https://h/"),
                ("https://h/a?b=c&d", "https://h/a?b=c&d"),
                ("https://u:p@h:81/a", "https://REDACTED:REDACTED@h:81/a"),
                ("https://u@h", "https://REDACTED:REDACTED@h"),
                ("https://h/a@b?c@d", "https://h/a@b?c@d"),
                ("https://h/?token=x", "https://h/?token=REDACTED"),
                ("https://h/?a=1&API-Key=x&b=2", "https://h/?a=1&API-Key=REDACTED&b=2"),
                ("https://h/?apiKey=x", "https://h/?apiKey=REDACTED"),
                ("https://h/?accessToken=x", "https://h/?accessToken=REDACTED"),
                ("https://h/?%74oken=x", "https://h/?%74oken=REDACTED"),
                ("https://h/?token=a=b", "https://h/?token=REDACTED"),
                ("https://h/?token", "https://h/?token"),
                ("https://h/?a=1;token=x;y", "https://h/?a=1;token=REDACTED"),
                ("https://h/?user%5Bpassword%5D=x", "https://h/?user%5Bpassword%5D=REDACTED"),
                ("https://h/?AWSAccessKeyId=x&Signature=y", "https://h/?AWSAccessKeyId=REDACTED&Signature=REDACTED"),
                ("https://h/?X-Amz-Signature=x", "https://h/?X-Amz-Signature=REDACTED"),
                ("https://h/?tokens=x", "https://h/?tokens=x"),
                ("https://h/#access_token=x&b=c", "https://h/#access_token=REDACTED&b=c"),
                ("https://h/#/route?token=x", "https://h/#/route?token=REDACTED"),
                ("https://h/?a=b#c", "https://h/?a=b#c"),
            ] {
                let got = redaction.text(of: try #require(URL(string: text)))
                if got != expected { wrong.append("\(text): \(got)") }
            }
            #expect(wrong.isEmpty)
            let long = redaction.text(
                of: try #require(URL(string: "https://h/" + String(repeating: "a", count: 9_000))))
            #expect(long.count == URLRedaction.maximumLength)
        }

        @Test func serversAndPorts() throws {
            let options = TelemetryOptions()
            let redaction = URLRedaction(secretNames: options.secretNames)
            var wrong: [String] = []
            for (text, expected) in [
                ("http://H.example/", "http h.example 80"), ("https://h.example", "https h.example 443"),
                ("HTTPS://h.example:8443", "https h.example 8443"), ("http://[::1]:81/", "http ::1 81"),
                ("http://[2001:DB8::1]/", "http 2001:db8::1 80"),
                ("http://b%C3%BCcher.example/", "http xn--bcher-kva.example 80"), ("data:,x", nil), ("file:///x", nil),
                ("wss://h.example", nil), ("relative", nil),
            ] as [(String, String?)] {
                let request = URLRequest(url: try #require(URL(string: text)))
                let facts = RequestFacts(request, options, redaction)
                let got = facts.map { "\($0.scheme) \($0.serverAddress) \($0.serverPort)" }
                if got != expected { wrong.append("\(text): \(got ?? "nil")") }
            }
            #expect(wrong.isEmpty)
        }

        @Test func protocols() {
            var wrong: [String] = []
            for (identifier, name, version) in [
                ("http/1.1", "http", "1.1"), ("http/1.0", "http", "1.0"), ("h2", "http", "2"), ("h2c", "http", "2"),
                ("H3", "http", "3"), ("spdy/3", "spdy", "3"), ("ftp", "ftp", nil), ("", nil, nil), (nil, nil, nil),
            ] as [(String?, String?, String?)] {
                var facts = NetworkFacts()
                facts.setProtocol(identifier)
                if facts.protocolName != name || facts.protocolVersion != version { wrong.append("\(facts)") }
            }
            #expect(wrong.isEmpty)
        }

        @Test func errors() {
            struct OwnError: Error {}
            let secret = URLError(.badURL, userInfo: [NSLocalizedDescriptionKey: "no https://h/?token=x"])
            #expect(ErrorType.name(of: URLError(.timedOut)) == "URLError.timedOut")
            #expect(ErrorType.name(of: URLError(.backgroundSessionWasDisconnected)) == "URLError.-997")
            #expect(ErrorType.name(of: OwnError()).hasSuffix("OwnError"))
            #expect(ErrorType.name(of: CancellationError()) == "Swift.CancellationError")
            #expect(ErrorType.description(of: secret) == "URLError.badURL")
            let long = URLError(
                .timedOut, userInfo: [NSLocalizedDescriptionKey: String(repeating: "a", count: 1_000)])
            #expect(ErrorType.description(of: long).count == 256)
        }

        @Test func durations() {
            #expect(AttemptMeters.nanoseconds(.milliseconds(1_500)) == 1_500_000_000)
            #expect(AttemptMeters.nanoseconds(.nanoseconds(1)) == 1)
            #expect(AttemptMeters.nanoseconds(.seconds(Int64.max / 2)) == .max)
        }

        /// Entries of released tasks are removed.
        @Test func tasksAreNotKept() {
            let traces = TaskTraces()
            for _ in 0..<10_000 { traces.setParent(.topLevel, of: URLSessionTask()) }
            #expect(traces.count <= 65)
            let kept = (0..<1_000).map { _ in URLSessionTask() }
            for task in kept { traces.setParent(.topLevel, of: task) }
            #expect(traces.count >= 1_000)
            withExtendedLifetime(kept) {}
        }
    }
#endif
