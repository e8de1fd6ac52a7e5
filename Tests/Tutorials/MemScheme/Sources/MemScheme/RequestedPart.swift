import Foundation
import LoadingKit

/// The part of an entry that a request wants by its `Range` field (RFC 9110 §14.2).
enum RequestedPart {
    case whole
    case part(Range<Int>)
    case unsatisfiable

    init(of entry: MemStore.Entry, by request: URLRequest) {
        self = .whole
        // Bytes of another version cannot be continued with this one.
        let version = request.value(forHTTPHeaderField: "If-Range")
        guard request.httpMethod == "GET", version == nil || version == entry.tag,
            let field = request.value(forHTTPHeaderField: "Range"), field.hasPrefix("bytes=")
        else { return }
        let ends = field.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        // A server may ignore what it does not understand, such as several ranges.
        guard ends.count == 2 else { return }
        let size = entry.data.count
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last?) where first <= last:
            self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
        case (let first?, nil) where ends[1].isEmpty:
            self = first < size ? .part(first..<size) : .unsatisfiable
        case (nil, let count?) where ends[0].isEmpty:
            self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        default: break
        }
    }
}
