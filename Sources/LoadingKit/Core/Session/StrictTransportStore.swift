import Foundation
import LoadingKitPrimitives

/// Hosts that said that they are to be reached by `https` alone (RFC 6797). Any thread may use it.
package final class StrictTransportStore: Sendable {
    private struct Policy {
        let end: Date
        let includesSubdomains: Bool
    }

    /// More hosts than this are not remembered: those that end first go.
    private static let maximumHosts = 10_000

    private let policies = Guarded<[String: Policy]>([:])
    private let now: @Sendable () -> Date

    package init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    /// What the program's sessions share that keep things beyond their end.
    package static let shared = StrictTransportStore()

    /// Takes note of a host's `Strict-Transport-Security`, which came over a connection whose certificate was verified. The
    /// first field counts, and none with an error in it (RFC 6797 §8.1).
    ///
    /// - Parameter host: lowercase; an address has no such policy.
    package func note(_ value: String, from host: String) {
        guard let field = StrictTransportSecurity(value), !LocalHost.isAddress(host) else { return }
        let name = Self.name(host)
        let now = now()
        policies.withLock { policies in
            guard field.maximumAge > 0 else { return policies[name] = nil }
            policies[name] = Policy(
                end: now.addingTimeInterval(field.maximumAge), includesSubdomains: field.includesSubdomains)
            if policies.count > Self.maximumHosts { Self.shrink(&policies, now) }
        }
    }

    private static func shrink(_ policies: inout [String: Policy], _ now: Date) {
        policies = policies.filter { $0.value.end > now }
        guard policies.count > maximumHosts, let first = policies.min(by: { $0.value.end < $1.value.end }) else {
            return
        }
        policies[first.key] = nil
    }

    /// Whether a host is to be reached by `https` alone: by its own word, or that of a domain that it is in.
    package func requiresSecureConnection(to host: String) -> Bool {
        let name = Self.name(host)
        return policies.withLock { policies in
            if policies.isEmpty { return false }
            let now = now()
            var suffix = name[...]
            while true {
                let isHostItself = suffix.count == name.count
                if let policy = policies[String(suffix)], policy.end > now, isHostItself || policy.includesSubdomains {
                    return true
                }
                guard let dot = suffix.firstIndex(of: ".") else { return false }
                suffix = suffix[suffix.index(after: dot)...]
            }
        }
    }

    package var isEmpty: Bool { policies.withLock { $0.isEmpty } }

    /// Forgets all.
    package func removeAll() { policies.withLock { $0 = [:] } }

    private static func name(_ host: String) -> String {
        (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
    }
}

/// A value of `Strict-Transport-Security` (RFC 6797 §6.1).
package struct StrictTransportSecurity: Hashable {
    /// In seconds; 0 ends the policy.
    package let maximumAge: TimeInterval
    package let includesSubdomains: Bool

    /// Nil where a directive comes twice, or where there is no age or none that is a number. Unknown directives are passed
    /// over.
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

    /// Digits, perhaps in quotation marks; more than a century is a century.
    private static func seconds(_ text: String) -> TimeInterval? {
        var digits = text[...]
        if digits.count >= 2, digits.first == "\"", digits.last == "\"" { digits = digits.dropFirst().dropLast() }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return min(TimeInterval(digits) ?? 0, 100 * 365.25 * 86_400)
    }
}
