#if Telemetry
    import Foundation
    import LoadingKit
    import LoadingKitLoopbackServer
    import LoadingKitTelemetry
    import Metrics

    /// Prints the metrics of a load by OpenTelemetry's conventions. A program bootstraps a backend of its own instead,
    /// such as one for Prometheus, and a tracer for spans.
    ///
    ///     swift run --traits default,Telemetry ReportMetricsExample https://swift.org/
    ///     swift run --traits default,Telemetry ReportMetricsExample --demo
    @main
    enum ReportMetrics {
        static func main() async {
            let argument = CommandLine.arguments.dropFirst().first ?? ""
            do {
                let server = argument == "--demo" ? try LoopbackServer { .text("you asked for \($0.path)") } : nil
                defer { server?.stop() }
                guard let url = URL(string: server?.url("/users/7") ?? argument), url.scheme != nil else {
                    print("usage: ReportMetricsExample URL|--demo")
                    exit(2)
                }
                var options = TelemetryOptions()
                options.metricsFactory = PrintedMetrics()  // nil: that of MetricsSystem.bootstrap
                options.urlTemplate = { $0.url?.path.hasPrefix("/users/") == true ? "/users/{id}" : nil }
                let configuration = URLSessionConfiguration.ephemeral
                HTTPTelemetry(options).install(in: configuration)
                let session = URLSession(configuration: configuration)
                print("\(try await session.data(from: url).0.count) bytes")
                await session.finishTasks()
            } catch {
                print("failed: \(error.localizedDescription)")
                exit(1)
            }
        }
    }

    struct PrintedMetrics: MetricsFactory {
        func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
            Instrument(label, dimensions)
        }
        func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
            Instrument(label, dimensions)
        }
        func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
            Instrument(label, dimensions)
        }
        func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
            Instrument(label, dimensions)
        }
        func destroyCounter(_ handler: any CounterHandler) {}
        func destroyMeter(_ handler: any MeterHandler) {}
        func destroyTimer(_ handler: any TimerHandler) {}
        func destroyRecorder(_ handler: any RecorderHandler) {}
    }

    final class Instrument: CounterHandler, MeterHandler, TimerHandler, RecorderHandler {
        private let name: String

        init(_ label: String, _ dimensions: [(String, String)]) {
            let shown = ["http.response.status_code", "url.template"]
            name = label + dimensions.filter { shown.contains($0.0) }.map { " \($0.0)=\($0.1)" }.joined()
        }

        func recordNanoseconds(_ duration: Int64) { print(name, Double(duration) / 1e9, "seconds") }
        func record(_ value: Int64) { print(name, value) }
        func record(_ value: Double) { print(name, value) }
        func increment(by amount: Double) {}  // requests under way
        func decrement(by amount: Double) {}
        func increment(by amount: Int64) {}
        func set(_ value: Int64) {}
        func set(_ value: Double) {}
        func reset() {}
    }
#else
    @main
    enum ReportMetrics {
        static func main() { print("build it with the package trait Telemetry: --traits default,Telemetry") }
    }
#endif
