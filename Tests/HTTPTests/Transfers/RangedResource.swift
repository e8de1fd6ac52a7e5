import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport

/// A resource that a server sends whole or from any byte on, and that may break off or change.
final class RangedResource: Sendable {
    struct State: Sendable {
        var body: [UInt8]
        var entityTag: String? = "\"one\""
        var lastModified: String?
        /// After so many bytes of a response the connection breaks.
        var breaksAfter: Int?
        /// Whether the server answers ranges.
        var hasRanges = true
        /// The largest number of bytes in an answer with a range.
        var mostOfRange: Int?
        /// The number of bytes that an answer with a range has, whatever its fields say.
        var endsAfter: Int?
        /// After so many bytes of a response nothing more comes.
        var stallsAfter: Int?
    }

    let state: Guarded<State>
    /// The `Range` fields of the requests; empty for those without.
    let ranges = Recorder<String>()
    /// Bytes that were sent.
    let sent = Guarded(0)

    init(_ body: [UInt8]) { state = Guarded(State(body: body)) }

    /// Numbers, so that a byte in a wrong place shows.
    static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    func answer(_ request: ServerRequest) -> ServerResponse {
        let state = state.withLock { $0 }
        let range = request.fields[.range]
        ranges.append(range ?? "")
        let isCurrent = request.fields[.ifRange].map { $0 == state.entityTag || $0 == state.lastModified } ?? true
        var start = 0
        if let range, state.hasRanges, isCurrent { start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0 }
        guard start < max(state.body.count, 1) else {
            return ServerResponse(416).adding("Content-Range", "bytes */\(state.body.count)")
        }
        let isRanged = range != nil && state.hasRanges && isCurrent
        let rest = Array(state.body[start...].prefix(isRanged ? state.mostOfRange ?? .max : .max))
        let ends = isRanged ? state.endsAfter : nil
        var response = ServerResponse.stream(ends == nil ? .length(UInt64(rest.count)) : .chunked) { [self] writer in
            let end = ends ?? state.breaksAfter ?? state.stallsAfter ?? rest.count
            for piece in stride(from: 0, to: min(end, rest.count), by: 64 * 1024) {
                let bytes = Array(rest[piece..<min(piece + 64 * 1024, end, rest.count)])
                try writer.write(bytes)
                sent.withLock { $0 += bytes.count }
            }
            if let breaks = state.breaksAfter, breaks < rest.count { throw CancellationError() }
            if let stalls = state.stallsAfter, stalls < rest.count { try writer.waitUntilClientCloses() }
        }
        if isRanged {
            response.status = 206
            response = response.adding(
                "Content-Range", "bytes \(start)-\(start + rest.count - 1)/\(state.body.count)")
        }
        if let tag = state.entityTag { response = response.adding("ETag", tag) }
        if let date = state.lastModified { response = response.adding("Last-Modified", date) }
        return response
    }
}
