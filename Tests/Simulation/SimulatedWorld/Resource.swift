import CSimulatedSystem
import Foundation
import TestSupport

/// What a server has at a path. Both sides compute it from the path.
struct Resource: Sendable, CustomStringConvertible {
    enum Kind: String, CaseIterable, Sendable {
        /// A body with its length, in chunks, up to the connection's end, compressed, in pieces with pauses.
        case plain, chunks, close, gzip, slow
        /// Redirects to the same resource of kind `plain`, with this status.
        case moved302, moved307
        /// Wants the client's user and password.
        case login
        /// Redirects to the same resource of kind `guest` at another server, which must not see who asks.
        case elsewhere, guest
        /// May be used again for requests with the same `Authorization`, or the same `Accept-Language`.
        case personal
        /// Of a server that the session does not trust.
        case distrusted
        /// Sends messages over a WebSocket, and closes it.
        case talk
        /// May be used again for some seconds. The body depends on when it was made.
        case cached
        /// Has an entity tag, and parts.
        case parts
        /// Is another one after some time, with another entity tag, and has parts.
        case changing
        /// Answers with what was sent.
        case echo
        /// Of a server that does not answer as it must, over HTTP/1.1 or HTTP/2.
        case hostile, hostileHTTP2
    }

    /// The number of a talk's messages.
    static let talkCount = 5

    let kind: Kind
    let client: Int
    let number: UInt64
    let length: Int

    init(_ kind: Kind, client: Int, number: UInt64, length: Int) {
        (self.kind, self.client, self.number, self.length) = (kind, client, number, length)
    }

    init?(path: some StringProtocol) {
        let parts = path.split(separator: "/")
        guard parts.count == 4, let kind = Kind(rawValue: String(parts[0])), let client = Int(parts[1]),
            let number = UInt64(parts[2]), let length = Int(parts[3])
        else { return nil }
        self.init(kind, client: client, number: number, length: length)
    }

    var path: String { "/\(kind.rawValue)/\(client)/\(number)/\(length)" }
    var description: String { path }
    func entityTag(isCoded: Bool) -> String { "\"\(number)-\(length)\(isCoded ? "-gzip" : "")\"" }

    /// Half of the resources with parts change.
    var orChanging: Resource { kind == .parts && number >> 32 % 2 == 0 ? of(.changing) : self }

    /// What a changing resource is now: it stays so for seconds, minutes or hours.
    var currentVersion: UInt64 { sim_time() / ([2, 60, 3600][Int(number % 3)] * 1_000_000_000) }

    /// Whether the server of a changing resource gives a part of what it is now, whatever the client has.
    var ignoresIfRange: Bool { number % 4 == 0 }

    /// Whether a personal resource is chosen by the request's language; by its credential otherwise.
    var isByLanguage: Bool { number % 2 == 1 }

    /// A message of a talk.
    func message(_ index: Int) -> [UInt8] {
        Resource(kind, client: client, number: number &+ UInt64(index), length: min(length, 20_000)).body()
    }

    /// The body, which no other resource has.
    func body(version: UInt64 = 0) -> [UInt8] {
        var generator = SeededGenerator(seed: number &* 1_000_003 &+ version &+ UInt64(client) << 48)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length + 8)
        while bytes.count < length { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
        bytes.removeLast(bytes.count - length)
        return bytes
    }

    func of(_ kind: Kind) -> Resource { Resource(kind, client: client, number: number, length: length) }
}
