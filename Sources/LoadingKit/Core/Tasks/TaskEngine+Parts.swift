import Foundation
import LoadingKitPrimitives

/// Responses of the type `multipart/x-mixed-replace`: each part has a response of its own.
extension TaskEngine {
    /// Nil for other types. A file gets the body as it is.
    func partsReader(of response: URLResponse) -> MixedReplaceReader? {
        guard let fields = (response as? HTTPURLResponse)?.fields else { return nil }
        var isMultipart = false
        // Most are not, and no string need be made to see that.
        fields.forEachValue(of: .contentType) { if $0.first.map({ $0 | 0x20 }) == UInt8(ascii: "m") { isMultipart = true } }
        guard isMultipart else { return nil }
        if case .file = consumer { return nil }
        return MixedReplaceReader(fields[.contentType])
    }

    func split(_ bytes: UnsafeRawBufferPointer) -> Flow {
        parts?.append(bytes)
        return splitOn()
    }

    /// No more bytes come.
    func finishParts() -> Flow {
        guard parts != nil else { return .more }
        parts?.finish()
        return splitOn()
    }

    /// Hands over parts until there are no more, or the consumer has enough.
    func splitOn() -> Flow {
        do {
            while hold.isEmpty, !isOver, let event = try parts?.next() {
                switch event {
                case .part(let fields):
                    flushChunk()
                    // Of the part before nobody wants to know any more.
                    _ = collector.take()
                    if let part = whole?.part(fields) { _ = begin(part) }
                case .data(let data): deliver(data)
                }
            }
        } catch {
            end(with: error)
        }
        return flow()
    }
}
