import Foundation
import LoadingKitPrimitives
import Synchronization

/// Looks names up, each family by itself, on the pool for what blocks; remembers answers for a short while.
package final class Resolver: Sendable {
    package typealias Family = HappyEyeballs.Family

    /// A lookup's answer: addresses, or why there are none.
    package enum Answer: Sendable {
        case addresses([SocketAddress])
        case notFound(String)
        case failed(String)

        package var addresses: [SocketAddress] {
            if case .addresses(let found) = self { found } else { [] }
        }
    }

    package typealias Lookup = @Sendable (_ host: String, _ port: UInt16, _ family: Family) -> Answer

    private struct Key: Hashable {
        let host: String
        let port: UInt16
        let family: Family
    }

    private struct State {
        var cached: [Key: (answer: Answer, until: MonotonicTime)] = [:]
        var waiting: [Key: [@Sendable (Answer) -> Void]] = [:]
    }

    /// How long answers are remembered, in seconds; and how many. Short, as `getaddrinfo` does not say how long they
    /// hold.
    private static let positiveTime = 60.0
    private static let negativeTime = 2.0
    private static let capacity = 512

    package static let shared = Resolver()

    private let lookup: Lookup
    private let state = Mutex(State())

    /// - Parameter lookup: blocks; called on the pool for what does.
    package init(lookup: @escaping Lookup = Resolver.systemLookup) { self.lookup = lookup }

    /// Calls `done` once, on any thread, or at once when the answer is known.
    package func resolve(
        _ host: String, port: UInt16, _ family: Family, now: MonotonicTime, _ done: @escaping @Sendable (Answer) -> Void
    ) {
        if let known = Self.withoutLookup(host, port, family) { return done(known) }
        let key = Key(host: host, port: port, family: family)
        let (cached, isFirst) = state.withLock { state -> (Answer?, Bool) in
            if let entry = state.cached[key], entry.until > now { return (entry.answer, false) }
            state.waiting[key, default: []].append(done)
            return (nil, state.waiting[key]?.count == 1)
        }
        if let cached { return done(cached) }
        guard isFirst else { return }
        BlockingPool.shared.run { self.finish(key, self.lookup(host, port, family), now) }
    }

    private func finish(_ key: Key, _ answer: Answer, _ asked: MonotonicTime) {
        let waiting = state.withLock { state -> [@Sendable (Answer) -> Void] in
            if state.cached.count >= Self.capacity { state.cached.removeAll() }
            let seconds = answer.addresses.isEmpty ? Self.negativeTime : Self.positiveTime
            state.cached[key] = (answer, asked.advanced(bySeconds: seconds))
            return state.waiting.removeValue(forKey: key) ?? []
        }
        for done in waiting { done(answer) }
    }

    /// Addresses, and `localhost`, which is loopback whatever the resolver says (RFC 6761 §6.3).
    private static func withoutLookup(_ host: String, _ port: UInt16, _ family: Family) -> Answer? {
        if let address = SocketAddress(literal: host, port: port) {
            return .addresses(address.isIPv6 == (family == .v6) ? [address] : [])
        }
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        guard name == "localhost" || name.hasSuffix(".localhost") else { return nil }
        return .addresses([SocketAddress(literal: family == .v6 ? "::1" : "127.0.0.1", port: port)].compactMap { $0 })
    }

    /// EAI_NODATA, which Glibc declares for GNU sources alone: the name exists, without addresses of this family.
    private static let noData: Int32 = -5

    package static let systemLookup: Lookup = { host, port, family in
        var hints = addrinfo()
        hints.ai_family = family == .v6 ? AF_INET6 : AF_INET
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        do {
            return .addresses(try SocketAddress.lookUp(host, port, hints))
        } catch let error as SocketAddress.LookupError {
            let isNotFound = [EAI_NONAME, noData].contains(error.code)
            return isNotFound ? .notFound(error.text) : .failed(error.text)
        } catch {
            return .failed("\(error)")
        }
    }
}
