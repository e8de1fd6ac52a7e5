#if Telemetry
    import Foundation
    import LoadingKit
    import LoadingKitLoopbackServer
    import LoadingKitTelemetry
    import LoadingKitTesting
    import Testing

    /// Loads with telemetry keep the contract of handlers.
    @Suite(.timeLimit(.minutes(5))) struct ContractTests {
        @Test(arguments: [1, 3]) func keeps(_ count: Int) async throws {
            let whole = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let server = try LoopbackServer { request in
                switch request.path {
                case "/redirect": return .redirect(to: "/whole")
                case "/upload": return .text("\(request.bodyLength)", status: 201)
                case "/failure": try request.exchange.closeAbruptly()
                case "/secret" where request.fields[name: "Authorization"] == nil:
                    return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"r\"")
                default: return .bytes(whole)
                }
            }
            defer { server.stop() }
            func address(_ path: String) throws -> URL { try url(server.url(path)) }
            let tracer = RecordingTracer()
            var upload = URLRequest(url: try address("/upload"))
            upload.httpMethod = "POST"
            let credential = URLCredential(user: "user", password: "password", persistence: .none)
            let report = await HandlerConformance([
                .resource(try address("/whole")), .upload(upload), .redirect(try address("/redirect")),
                .challenge(try address("/secret"), credential: credential), .failure(try address("/failure")),
            ]) { configuration in
                for _ in 0..<count {
                    var options = TelemetryOptions()
                    options.tracer = tracer
                    options.metricsFactory = RecordingMetrics()
                    HTTPTelemetry(options).install(in: configuration)
                }
            }.run()
            #expect(report.findings.isEmpty, "\(report)")
            #expect(report.checks.count > 35)
            // Every span ends, also those of loads that were cancelled.
            let started = tracer.started
            #expect(await tracer.ended.count(reaches: started).count >= started)
        }
    }
#endif
