import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitHTTP2

/// Shows the messages' heads to a program that observes them (``MessageEvent``).
extension HTTPExchange {
    /// - Parameter bytes: the head of a request in HTTP/1.1.
    func headWillBeSent(_ bytes: some Collection<UInt8>) {
        guard resources.task.observeMessages != nil else { return }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").map(String.init)
        report(lines)
    }

    func headWillBeSent(_ head: HTTP2RequestHead) {
        guard resources.task.observeMessages != nil else { return }
        var lines = [":method: \(head.method)"]
        if let name = head.connectProtocol { lines.append(":protocol: \(name)") }
        let rest = [("scheme", head.scheme), ("authority", head.authority), ("path", head.path)]
        lines += rest.compactMap { name, value in value.map { ":\(name): \($0)" } }
        report(lines + head.fields.map { "\($0.name.lowercased()): \($0.value)" })
    }

    func didReceive(headToObserve head: ResponseHead) {
        resources.task.observeMessages?(
            .didReceive(HTTPURLResponse(head, to: request), reason: head.reason))
    }

    private func report(_ lines: [String]) {
        transaction.sentLines = lines
        let transaction = URLSessionTaskTransactionMetrics(
            request: request, response: nil, timings: transaction.timings,
            anchor: WallClockAnchor(date: Date(), monotonicTime: loop.now))
        resources.task.observeMessages?(.willSend(lines, transaction))
    }
}
