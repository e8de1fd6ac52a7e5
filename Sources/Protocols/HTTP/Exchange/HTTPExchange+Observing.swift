import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitHTTP2

/// Shows the messages' heads to a program that observes them (``MessageEvent``).
extension HTTPExchange {
    private var keepsSentHead: Bool { resources.task.keepsSentHeads || resources.task.observeMessages != nil }

    /// - Parameter bytes: the head of a request in HTTP/1.1.
    func headWillBeSent(_ bytes: some Collection<UInt8>) {
        guard keepsSentHead else { return }
        let bytes = Array(bytes)
        report { String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").map(String.init) }
    }

    func headWillBeSent(_ head: HTTP2RequestHead) {
        guard keepsSentHead else { return }
        report {
            var lines = [":method: \(head.method)"]
            if let name = head.connectProtocol { lines.append(":protocol: \(name)") }
            let rest = [("scheme", head.scheme), ("authority", head.authority), ("path", head.path)]
            lines += rest.compactMap { name, value in value.map { ":\(name): \($0)" } }
            return lines + head.fields.map { "\($0.name.lowercased()): \($0.value)" }
        }
    }

    func didReceive(headToObserve head: ResponseHead) {
        resources.task.observeMessages?(
            .didReceive(HTTPURLResponse(head, to: request), reason: head.reason))
    }

    private func report(_ lines: @escaping @Sendable () -> [String]) {
        transaction.sentLines = lines
        guard let observe = resources.task.observeMessages else { return }
        let transaction = URLSessionTaskTransactionMetrics(
            request: request, response: nil, timings: transaction.timings,
            anchor: WallClockAnchor(loop))
        observe(.willSend(lines(), transaction))
    }
}
