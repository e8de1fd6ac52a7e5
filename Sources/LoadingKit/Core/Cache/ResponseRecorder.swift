import Foundation

/// Keeps a copy of a response's body as it is delivered, up to the size that a cache can store.
package final class ResponseRecorder {
    private let limit: Int
    private var collector = BodyCollector()
    private var count = 0
    private var isAbandoned = false

    /// Nil where the response announces a body that is too large.
    package init?(expecting expected: Int64, limit: Int) {
        guard limit > 0, expected <= Int64(limit) else { return nil }
        self.limit = limit
        collector.expect(expected)
    }

    package func append(_ bytes: UnsafeRawBufferPointer) {
        if admits(bytes.count), !collector.append(bytes) { abandon() }
    }

    package func append(_ data: Data) {
        if admits(data.count), !collector.append(data) { abandon() }
    }

    /// The complete body; nil when it was too large.
    package func take() -> Data? { isAbandoned ? nil : collector.take() }

    private func admits(_ bytes: Int) -> Bool {
        guard !isAbandoned else { return false }
        let (sum, overflow) = count.addingReportingOverflow(bytes)
        count = sum
        if overflow || sum > limit { abandon() }
        return !isAbandoned
    }

    private func abandon() {
        isAbandoned = true
        _ = collector.take()
    }
}
