#if Telemetry
    import Foundation
    import LoadingKit
    import LoadingKitLoopbackServer
    import LoadingKitTelemetry
    import Testing
    import Tracing

    @Suite(.timeLimit(.minutes(5))) struct SpanTests {
        @Test func aSuccessHasAllAttributes() async throws {
            let server = try LoopbackServer { _ in .text("hello") }
            defer { server.stop() }
            let observed = Observed()
            defer { observed.end() }
            let (data, _) = try await observed.load(server.url("/path?q=1&token=x"))
            #expect(data == Data("hello".utf8))
            let span = try await observed.span()
            #expect(span.name == "GET" && span.kind == .client && span.parent == nil && span.status == nil)
            #expect(span.links.isEmpty && span.ends == 1)
            let port = try #require(server.address.port)
            #expect(
                span.attributes == [
                    "http.request.method": "GET", "server.address": "127.0.0.1", "server.port": "\(port)",
                    "url.full": server.url("/path?q=1&token=REDACTED"), "url.scheme": "http",
                    "http.response.status_code": "200", "network.protocol.name": "http",
                    "network.protocol.version": "1.1", "network.peer.address": "127.0.0.1",
                    "network.peer.port": "\(port)",
                ])
        }

        @Test func statusesDecideTheSpansStatus() async throws {
            let server = try LoopbackServer { request in
                .text("", status: Int(request.path.dropFirst()) ?? 0)
            }
            defer { server.stop() }
            var wrong: [String] = []
            for (status, isError) in [
                (200, false), (201, false), (204, false), (304, false), (399, false), (400, true), (404, true),
                (499, true), (500, true), (503, true), (599, true), (999, true),
            ] {
                let observed = Observed()
                defer { observed.end() }
                try await observed.load(server.url("/\(status)"))
                let span = try await observed.span()
                let differences = differences(
                    span.attributes,
                    ["http.response.status_code": "\(status)", "error.type": isError ? "\(status)" : nil])
                let expected = isError ? SpanStatus(code: .error) : nil
                if !differences.isEmpty || span.status != expected {
                    wrong.append("\(status): \(differences) \(String(describing: span.status))")
                }
            }
            #expect(wrong.isEmpty)
        }

        @Test func methodsThatAreNotKnown() async throws {
            let server = try LoopbackServer { _ in .text("") }
            defer { server.stop() }
            var wrong: [String] = []
            for (method, name, known, original) in [
                ("POST", "POST", "POST", nil), ("PURGE", "HTTP", "_OTHER", "PURGE"),
                ("patch", "HTTP", "_OTHER", "patch"),
                ("QUERY", "QUERY", "QUERY", nil),
            ] as [(String, String, String, String?)] {
                let observed = Observed { $0.knownMethods.insert("QUERY") }
                defer { observed.end() }
                try await observed.load(server.url()) { $0.httpMethod = method }
                let span = try await observed.span()
                let differences = differences(
                    span.attributes, ["http.request.method": known, "http.request.method_original": original])
                if span.name != name || !differences.isEmpty { wrong.append("\(method): \(span.name) \(differences)") }
            }
            #expect(wrong.isEmpty)
        }

        @Test func templatesNameSpans() async throws {
            let server = try LoopbackServer { _ in .text("") }
            defer { server.stop() }
            let observed = Observed { $0.urlTemplate = { $0.url?.path == "/users/7" ? "/users/{id}" : nil } }
            defer { observed.end() }
            try await observed.load(server.url("/users/7"))
            try await observed.load(server.url("/other"))
            let spans = await observed.spans(2)
            #expect(spans.map(\.name) == ["GET /users/{id}", "GET"])
            #expect(spans.map { $0["url.template"] } == ["/users/{id}", nil])
            #expect(
                observed.metrics.samples("http.client.request.duration").map { $0.dimensions["url.template"] }
                    == ["/users/{id}", nil])
        }

        @Test func http2() async throws {
            var options = LoopbackServer.Options()
            options.speaksHTTP2 = true
            let server = try LoopbackServer(options) { _ in .text("hello", status: 404) }
            defer { server.stop() }
            let observed = Observed(configure: { $0.assumesCleartextHTTP2 = true })
            defer { observed.end() }
            try await observed.load(server.url())
            let span = try await observed.span()
            #expect(
                differences(
                    span.attributes,
                    [
                        "network.protocol.name": "http", "network.protocol.version": "2",
                        "http.response.status_code": "404", "error.type": "404", "network.peer.address": "127.0.0.1",
                    ]) == [])
            #expect(observed.metrics.samples("http.client.response.body.size").map(\.value) == [5])
        }

        @Test func spansThatAreNotRecordedGetNoAttributes() async throws {
            let server = try LoopbackServer { _ in .text("") }
            defer { server.stop() }
            let observed = Observed(tracer: RecordingTracer(isRecording: false))
            defer { observed.end() }
            try await observed.load(server.url())
            #expect(try await observed.span().attributes.isEmpty)
            // The server learns of the trace all the same.
            #expect(server.requests.last?.fields[name: "traceparent"] != nil)
        }

        @Test func otherSchemesAreLeftAlone() async throws {
            let observed = Observed()
            defer { observed.end() }
            let (data, _) = try await observed.load("data:,hello")
            #expect(data == Data("hello".utf8) && observed.tracer.started == 0 && observed.metrics.made == 0)
        }

        @Test func bodiesPassWithoutBeingCollected() async throws {
            let server = try LoopbackServer { request in .bytes(request.body) }
            defer { server.stop() }
            let observed = Observed()
            defer { observed.end() }
            let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let (data, _) = try await observed.load(server.url()) { request in
                request.httpMethod = "POST"
                request.httpBody = body
            }
            #expect(data == body)
            _ = try await observed.span()
            #expect(observed.metrics.samples("http.client.request.body.size").map(\.value) == [3_000_000])
            #expect(observed.metrics.samples("http.client.response.body.size").map(\.value) == [3_000_000])
        }
    }
#endif
