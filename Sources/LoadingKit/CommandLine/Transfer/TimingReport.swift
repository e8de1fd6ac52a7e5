import Foundation
import LoadingKit

/// The times of a run's loads on a common axis: the output of `--timing` and of `--timing-json`.
final class TimingReport: @unchecked Sendable {  // used on the transfers' queue, and after the last transfer
    private struct Entry {
        let index: Int
        let metrics: URLSessionTaskMetrics
        let request: URLRequest
        let status: ToolStatus
    }

    private var entries: [Entry] = []

    /// - Parameter index: the load's place in the run, which is its place in the report.
    func add(_ index: Int, _ metrics: URLSessionTaskMetrics, _ request: URLRequest, _ status: ToolStatus) {
        entries.append(Entry(index: index, metrics: metrics, request: request, status: status))
    }

    /// The start of the first load.
    private var origin: Date { entries.map(\.metrics.taskInterval.start).min() ?? Date() }

    /// The attempts of a load, which `--retry` makes, stay in their order.
    private var sorted: [Entry] {
        entries.enumerated().sorted { ($0.element.index, $0.offset) < ($1.element.index, $1.offset) }.map(\.element)
    }

    func waterfall(_ terminal: Terminal) -> String {
        Waterfall(sorted.flatMap { Timeline.all($0.metrics, $0.request, since: origin) }, terminal).text
    }

    /// One line, and the line break.
    var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let loads = sorted.map { entry in
            let interval = entry.metrics.taskInterval
            return Load(
                url: entry.request.url?.withoutPassword ?? "", exitCode: entry.status.rawValue,
                start: milliseconds(interval.start.timeIntervalSince(origin)),
                duration: milliseconds(interval.duration),
                transactions: zip(
                    entry.metrics.transactionMetrics, Timeline.all(entry.metrics, entry.request, since: origin)
                ).map { Transaction($0, $1) })
        }
        return ((try? encoder.encode(loads)) ?? Data("[]".utf8)) + "\n".utf8
    }

    private struct Load: Encodable {
        let url: String
        let exitCode: Int32
        let start: Double
        let duration: Double
        let transactions: [Transaction]
    }

    private struct Span: Encodable {
        let start: Double
        let duration: Double
    }

    private struct Transaction: Encodable {
        let method: String
        let url: String
        let status: Int?
        let httpVersion: String?
        let tls: String?
        let address: String?
        let port: Int?
        let isReused: Bool
        let start: Double
        let duration: Double
        let phases: [String: Span]

        init(_ transaction: URLSessionTaskTransactionMetrics, _ timeline: Timeline) {
            method = transaction.request.httpMethod ?? "GET"
            url = transaction.request.url?.withoutPassword ?? ""
            status = (transaction.response as? HTTPURLResponse)?.statusCode
            httpVersion = transaction.networkProtocolName
            tls = transaction.negotiatedTLSProtocolVersion?.standardName
            (address, port) = (transaction.remoteAddress, transaction.remotePort.flatMap { Int($0) })
            isReused = transaction.isReusedConnection
            (start, duration) = (milliseconds(timeline.start), milliseconds(timeline.end - timeline.start))
            let spans = timeline.spans.map { span in
                (
                    span.phase.rawValue.lowercased(),
                    Span(start: milliseconds(span.start), duration: milliseconds(span.end - span.start))
                )
            }
            phases = Dictionary(spans) { first, _ in first }
        }
    }
}

/// To the microsecond.
private func milliseconds(_ seconds: Double) -> Double { (seconds * 1e6).rounded() / 1e3 }
