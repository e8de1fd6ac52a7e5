import Foundation
import LoadingKitLoopbackServer

/// Serves one resource, with ranges, and breaks off as a test wants.
final class RangeServer: Sendable {
    struct Behaviour: Sendable {
        var content: [UInt8]
        var entityTag = "\"1\""
        /// What `Content-Encoding` says.
        var coding: String?
        /// After how many bytes each of the next responses breaks off.
        var breaks: [Int] = []
        /// After how many bytes a response waits until the client closes the connection.
        var pausesAfter: Int?
        var hasRanges = true
        /// The largest number of bytes in an answer with a range.
        var mostOfRange: Int?
        /// The numbers of bytes that the next answers with ranges have, whatever their fields say.
        var ends: [Int] = []
        var status = 200
        /// What `Authorization` has to be.
        var authorization: String?
    }

    let behaviour: Box<Behaviour>
    let server: LoopbackServer
    /// Bytes of bodies that were sent.
    let sent = Box(0)
    /// A response waits, and goes on to its end.
    let (paused, resumed) = (Signal(), Signal())

    init(count: Int = 1_000_000) throws {
        var generator = SystemRandomNumberGenerator()
        let words = (0...count / 8).map { _ in generator.next() as UInt64 }
        let content = words.withUnsafeBytes { Array($0.prefix(count)) }
        let (behaviour, sent, paused, resumed) = (Box(Behaviour(content: content)), sent, paused, resumed)
        self.behaviour = behaviour
        server = try LoopbackServer { request in
            if let wanted = behaviour.value.authorization, request.fields[name: "authorization"] != wanted {
                return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"files\"")
            }
            let (now, limit) = behaviour.update { ($0, $0.breaks.isEmpty ? nil : $0.breaks.removeFirst()) }
            let asked = request.fields[name: "range"]?.dropFirst("bytes=".count).split(separator: "-").first
            let isCurrent = request.fields[name: "if-range"].map { $0 == now.entityTag } ?? true
            let first = now.hasRanges && isCurrent ? asked.flatMap { Int($0) } ?? 0 : 0
            guard first == 0 || first < now.content.count else {
                return ServerResponse(416).adding("Content-Range", "bytes */\(now.content.count)")
                    .adding("ETag", now.entityTag)
            }
            let part = Array(now.content[first...].prefix(first > 0 ? now.mostOfRange ?? .max : .max))
            let end: Int? = behaviour.update { first == 0 || $0.ends.isEmpty ? nil : $0.ends.removeFirst() }
            var response = ServerResponse.stream(end == nil ? .length(UInt64(part.count)) : .chunked) { writer in
                let piece = Array(part.prefix(end ?? limit ?? now.pausesAfter ?? part.count))
                try writer.write(piece)
                sent.update { $0 += piece.count }
                if now.pausesAfter != nil {
                    paused.fire()
                    try request.exchange.waitUntilClientCloses()
                    resumed.fire()
                }
                if limit != nil { throw CancellationError() }
            }
            response.status = first > 0 ? 206 : now.status
            response.fields.append(name: "ETag", value: now.entityTag)
            if let coding = now.coding { response.fields.append(name: "Content-Encoding", value: coding) }
            if first > 0 {
                let range = "bytes \(first)-\(first + part.count - 1)/\(now.content.count)"
                response.fields.append(name: "Content-Range", value: range)
            }
            return response
        }
    }

    func stop() { server.stop() }

    var url: String { server.url("/file") }
    var content: Data { Data(behaviour.value.content) }

    /// The ranges that were asked for.
    var ranges: [String?] { server.requests.snapshot.map { $0.fields[name: "range"] } }
}
