import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization

/// Hosts that have announced that they must be reached by `https` only (RFC 6797). Thread-safe.
///
/// Two processes may share the policies on disk. Each gets the hosts that the other has added at its next start, or when
/// it calls ``reload()``.
package final class HSTSStore: Sendable {
    /// The largest number of hosts. Beyond it, the hosts whose policies end first are removed.
    private static let maximumHosts = 10_000
    /// In seconds.
    private static let timeBetweenEndings = 3600.0
    /// No domain that contains a host is longer (RFC 1035 §2.3.4).
    private static let maximumDomainBytes = 255

    private struct State {
        var policies: [String: HSTSPolicy] = [:]
        /// The policies on disk. Not every response of a host changes them: see ``keep(_:of:for:_:)``.
        var kept: [String: HSTSPolicy] = [:]
        /// The times at which the ends of policies were saved. See ``forget(_:_:_:)``.
        var endings: [String: Date] = [:]
        /// The version of the policies on disk that was loaded last by ``reload()``.
        var version: String?
        /// The number of calls of the persistent store's `save`.
        var saveCount: UInt64 = 0

        /// Replaces the policies by those on disk. A policy that is unchanged there may have a later end in memory.
        mutating func replace(by loaded: [String: HSTSPolicy]) {
            let unchanged = policies.filter { kept[$0.key] == loaded[$0.key] && loaded[$0.key] != nil }
            policies = loaded.merging(unchanged) { $1 }
            kept = loaded
        }
    }

    private let state: Guarded<State>
    /// Whether there are policies. Each request by `http` asks this, and takes no lock for it.
    private let hasPolicies: Atomic<Bool>
    private let persistence: (any HSTSPersistence)?
    private let now: @Sendable () -> Date

    /// See ``EphemeralStore``.
    package nonisolated(unsafe) var ephemeralUses: EphemeralUses?

    /// Makes a store with the policies of `persistence`, which are read before the initializer returns. Without
    /// `persistence` the store is empty, and in memory only.
    package init(
        persistence: (any HSTSPersistence)? = nil, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let date = now()
        let kept = ((try? persistence?.load()) ?? [:]).filter { $0.value.end > date }
        state = Guarded(State(policies: kept, kept: kept))
        hasPolicies = Atomic(!kept.isEmpty)
        self.persistence = persistence
        self.now = now
    }

    /// Loads the changes that other processes have made on disk. Policies that cannot be read stay as they are. May block.
    package func reload() {
        let (last, saveCount) = state.withLock { ($0.version, $0.saveCount) }
        guard let persistence, let version = try? persistence.version(), version != last,
            let loaded = try? persistence.load()
        else { return }
        let date = now()
        change { state in
            // A change that was made meanwhile may be missing from what was loaded. The next call loads again.
            guard state.saveCount == saveCount else { return }
            state.replace(by: loaded.filter { $0.value.end > date })
            state.version = version
        }
    }

    /// Stores a host's `Strict-Transport-Security` policy. The connection's certificate must have been verified, and
    /// `value` must be that of the first such field. A value with an error in it is ignored (RFC 6797 §8.1).
    ///
    /// - Parameter host: in lower case; an address has no HSTS policy.
    package func note(_ value: String, from host: String) {
        guard let field = HSTSField(value), IPAddress(withoutZone: host) == nil else { return }
        let name = Self.name(host)
        let now = now()
        change { state in
            guard field.maximumAge > 0 else { return forget(name, &state, now) }
            let policy = HSTSPolicy(
                end: now.addingTimeInterval(field.maximumAge), includesSubdomains: field.includesSubdomains)
            state.policies[name] = policy
            keep(policy, of: name, for: field.maximumAge, &state)
            if state.policies.count > Self.maximumHosts { shrink(&state, now) }
        }
    }

    /// Removes a host's policy. On disk there may be one that this store does not know: another process has saved it. A
    /// host may end its policy with each response: without a known policy, this is saved once an hour.
    private func forget(_ name: String, _ state: inout State, _ now: Date) {
        state.policies[name] = nil
        let isKept = state.kept.removeValue(forKey: name) != nil
        guard persistence != nil else { return }
        if !isKept, let last = state.endings[name], abs(now.timeIntervalSince(last)) < Self.timeBetweenEndings {
            return
        }
        if state.endings.count >= Self.maximumHosts { state.endings = [:] }
        state.endings[name] = now
        save(.forget(host: name), &state)
    }

    /// Stores a host's policy. A host sends it with each response. It is saved to disk only if its end is later than
    /// the saved end by more than a hundredth of its lifetime.
    private func keep(
        _ policy: HSTSPolicy, of name: String, for age: TimeInterval, _ state: inout State
    ) {
        guard persistence != nil else { return }
        if let kept = state.kept[name], kept.includesSubdomains == policy.includesSubdomains,
            abs(policy.end.timeIntervalSince(kept.end)) <= age / 100
        {
            return
        }
        state.kept[name] = policy
        save(.keep(policy, host: name), &state)
    }

    private func save(_ change: HSTSChange, _ state: inout State) {
        persistence?.save(change)
        state.saveCount += 1
    }

    /// Removes the policies that have ended. Where too many remain, removes those that end first: an eighth of the limit
    /// at once, as each removal compares all policies.
    private func shrink(_ state: inout State, _ now: Date) {
        for (name, policy) in state.policies where policy.end <= now { forget(name, &state, now) }
        guard state.policies.count > Self.maximumHosts else { return }
        let excess = state.policies.count - Self.maximumHosts + Self.maximumHosts / 8
        for (name, _) in state.policies.sorted(by: { $0.value.end < $1.value.end }).prefix(excess) {
            forget(name, &state, now)
        }
    }

    /// Whether a host must be reached by `https` only: by its own policy, or by the policy of a domain that contains
    /// it.
    package func requiresSecureConnection(to host: String) -> Bool {
        let name = Self.name(host)
        return state.withLock { state in
            let policies = state.policies
            if policies.isEmpty { return false }
            let now = now()
            var suffix = name[...]
            while true {
                let isHostItself = suffix.startIndex == name.startIndex
                if let policy = policies[String(suffix)], policy.end > now, isHostItself || policy.includesSubdomains {
                    return true
                }
                // A server may redirect to a host of any length.
                let domain = suffix.utf8.suffix(Self.maximumDomainBytes)
                guard let dot = domain.firstIndex(of: UInt8(ascii: ".")) else { return false }
                suffix = suffix[domain.index(after: dot)...]
            }
        }
    }

    package var isEmpty: Bool { !hasPolicies.load(ordering: .relaxed) }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            hasPolicies.store(!state.policies.isEmpty, ordering: .relaxed)
        }
    }

    /// Removes all policies.
    package func removeAll() {
        change { state in
            (state.policies, state.kept, state.endings) = ([:], [:], [:])
            save(.forgetAll, &state)
        }
    }

    /// Calls `completion`, on any thread, when all policies are on disk or could not be written.
    package func flush(_ completion: @escaping @Sendable () -> Void) {
        if let persistence { persistence.flush(completion) } else { completion() }
    }

    private static func name(_ host: String) -> String {
        (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
    }
}

/// A value of `Strict-Transport-Security` (RFC 6797 §6.1).
package struct HSTSField: Hashable {
    /// In seconds; 0 ends the policy.
    package let maximumAge: TimeInterval
    package let includesSubdomains: Bool

    /// Nil where a directive occurs twice, or where `max-age` is missing or not a number. Unknown directives are
    /// ignored.
    package init?(_ value: String) {
        var age: TimeInterval?
        var includesSubdomains = false
        var seen: Set<String> = []
        for directive in value.split(separator: ";") {
            let parts = directive.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            let name = parts[0].lowercased()
            if name.isEmpty { continue }
            guard seen.insert(name).inserted else { return nil }
            switch name {
            case "max-age":
                guard parts.count == 2, let seconds = Self.seconds(parts[1]) else { return nil }
                age = seconds
            case "includesubdomains": includesSubdomains = true
            case _: break
            }
        }
        guard let age else { return nil }
        maximumAge = age
        self.includesSubdomains = includesSubdomains
    }

    /// A number of seconds in digits, with or without quotation marks. More than a century counts as a century.
    private static func seconds(_ text: String) -> TimeInterval? {
        var digits = text[...]
        if digits.count >= 2, digits.first == "\"", digits.last == "\"" { digits = digits.dropFirst().dropLast() }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return min(TimeInterval(digits) ?? 0, 100 * 365.25 * 86_400)
    }
}
