import LoadingKitPrimitives

extension HTTPConnectionPool {
    /// Which user's requests may go on a connection.
    enum Binding: Sendable, Equatable {
        /// Any: each request identifies its user itself.
        case none
        /// The connection was authenticated (NTLM, Negotiate): requests of this user, and those that name none.
        case user(UserCredential)
        /// It was authenticated for a user that a URL named: requests whose URLs name the same one.
        case namedUser(UserCredential)
        /// The connection was authenticated for a single request.
        case spent

        func suits(_ user: RequestUser) -> Bool {
            switch (self, user) {
            case (.none, _): true
            case (.spent, _), (.user, .ownField), (.namedUser, .ownField), (.namedUser, .none): false
            case (.user, .none): true
            case (.user(let one), .named(let other)), (.namedUser(let one), .named(let other)): one == other
            }
        }
    }

    /// A user, as requests and connections name one. An object, as most name none, and what names one is copied for each.
    final class UserCredential: Hashable, Sendable {
        let user: String?
        let password: String?

        init(user: String?, password: String?) {
            self.user = user
            self.password = password
        }

        static func == (left: UserCredential, right: UserCredential) -> Bool {
            left.user == right.user && left.password == right.password
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(user)
            hasher.combine(password)
        }
    }

    /// The user that a request names.
    enum RequestUser: Sendable, Equatable {
        case none
        /// Its URL names the user.
        case named(UserCredential)
        /// It has an `Authorization` field of the program's own.
        case ownField
    }

    /// Connections of HTTP/1.1: each carries one request at a time, but for those that are pipelined.
    struct HTTP1Connections: Sendable, CustomStringConvertible {
        private struct Idle {
            let id: ConnectionID
            let binding: Binding
            /// When the connection is to be closed, or not to be used any more.
            let until: MonotonicTime
        }

        /// The last used is used first, so that what is not needed grows old.
        private var idle: [Idle] = []
        /// Those that carry a request, by the index of their identifiers.
        private var active: [ConnectionID?] = []
        private(set) var activeCount = 0
        /// The active ones that requests may be sent on before what they carry is answered.
        private(set) var pipelined: [ConnectionID] = []

        var count: Int { idle.count + activeCount }
        var isEmpty: Bool { count == 0 }
        var hasIdle: Bool { !idle.isEmpty }
        func hasIdle(for user: RequestUser) -> Bool { idle.contains { $0.binding.suits(user) } }

        var description: String { "idle \(idle.count) active \(activeCount)" }

        func isActive(_ id: ConnectionID) -> Bool { id.index < active.count && active[id.index] == id }

        mutating func activate(_ id: ConnectionID, pipelines: Bool) {
            while active.count <= id.index { active.append(nil) }
            active[id.index] = id
            activeCount += 1
            if pipelines { pipelined.append(id) }
        }

        /// The connection has ended its request. False where it had none.
        mutating func deactivate(_ id: ConnectionID) -> Bool {
            guard isActive(id) else { return false }
            active[id.index] = nil
            activeCount -= 1
            if !pipelined.isEmpty { pipelined.removeAll { $0 == id } }
            return true
        }

        mutating func keep(_ id: ConnectionID, _ binding: Binding, until: MonotonicTime) {
            idle.append(Idle(id: id, binding: binding, until: until))
        }

        /// Takes out an idle connection for a user's request; those that are too old go to `expired`.
        mutating func popIdle(
            for user: RequestUser, now: MonotonicTime, expired: inout [ConnectionID]
        ) -> ConnectionID? {
            while let last = idle.last {
                let found: Idle
                if last.binding.suits(user) {
                    found = idle.removeLast()
                } else if let index = idle.lastIndex(where: { $0.binding.suits(user) }) {
                    found = idle.remove(at: index)
                } else {
                    return nil
                }
                if found.until > now { return found.id }
                expired.append(found.id)
            }
            return nil
        }

        mutating func popOldestIdle() -> ConnectionID? { idle.isEmpty ? nil : idle.removeFirst().id }

        mutating func removeIdle(_ id: ConnectionID) -> Bool {
            guard let index = idle.lastIndex(where: { $0.id == id }) else { return false }
            idle.remove(at: index)
            return true
        }

        /// Takes out those that were to be closed by `time`.
        mutating func popIdle(before time: MonotonicTime) -> [ConnectionID] {
            let old = idle.filter { $0.until <= time }
            if !old.isEmpty { idle.removeAll { $0.until <= time } }
            return old.map(\.id)
        }
    }

    /// What a connection of HTTP/2 can carry.
    struct StreamSlots: Sendable, Equatable, CustomStringConvertible {
        /// How many requests more the server allows now.
        var available: Int
        /// How many it carries.
        var open: Int
        /// Whether the server has yet to say if streams may switch to another protocol, which all requests are to do.
        var awaitsSettings = false

        var description: String { "open \(open) of \(open + available)" + (awaitsSettings ? " awaits settings" : "") }
    }

    /// Connections of HTTP/2, which carry many requests at a time.
    struct HTTP2Connections: Sendable, CustomStringConvertible {
        struct Entry: Sendable {
            let id: ConnectionID
            var slots: StreamSlots
            /// From when on it takes no new requests: addresses and certificates change.
            let retiresAt: MonotonicTime
            /// When, being idle, it is to be closed; `distantFuture` while it is not idle.
            var idleUntil = MonotonicTime.distantFuture
            /// How many requests it has been given.
            var assignedCount = 0

            func takesRequests(_ now: MonotonicTime) -> Bool { retiresAt > now }

            func hasSlot(_ now: MonotonicTime) -> Bool {
                slots.available > 0 && !slots.awaitsSettings && takesRequests(now)
            }

            var isIdle: Bool { slots.open == 0 }
        }

        private(set) var entries: [Entry] = []

        var description: String {
            entries.isEmpty ? "no connection" : entries.map { "\($0.slots)" }.joined(separator: " ")
        }

        var isEmpty: Bool { entries.isEmpty }
        var awaitsSettings: Bool { entries.contains { $0.slots.awaitsSettings } }
        var hasIdle: Bool { entries.contains(where: \.isIdle) }

        func countOfThoseThatTakeRequests(_ now: MonotonicTime) -> Int {
            entries.count { $0.takesRequests(now) }
        }

        func firstWithSlot(_ now: MonotonicTime) -> ConnectionID? { entries.first { $0.hasSlot(now) }?.id }

        subscript(id: ConnectionID) -> Entry? { index(of: id).map { entries[$0] } }

        private func index(of id: ConnectionID) -> Int? { entries.firstIndex { $0.id == id } }

        mutating func insert(_ entry: Entry) { entries.append(entry) }

        mutating func remove(_ id: ConnectionID) -> Entry? { index(of: id).map { entries.remove(at: $0) } }

        mutating func takeSlot(of id: ConnectionID) {
            guard let index = index(of: id) else { return }
            entries[index].slots.available -= 1
            entries[index].slots.open += 1
            entries[index].assignedCount += 1
            entries[index].idleUntil = .distantFuture
        }

        /// False where the connection takes no new requests any more.
        mutating func set(_ slots: StreamSlots, of id: ConnectionID) -> Bool {
            guard let index = index(of: id) else { return false }
            entries[index].slots = slots
            return true
        }

        mutating func keep(_ id: ConnectionID, until: MonotonicTime) {
            if let index = index(of: id) { entries[index].idleUntil = until }
        }

        /// - Parameter sparesUnsettled: whether requests wait for the settings of connections that have none yet.
        mutating func popIdle(before time: MonotonicTime, all: Bool, sparesUnsettled: Bool) -> [ConnectionID] {
            func isOld(_ entry: Entry) -> Bool {
                if sparesUnsettled, entry.slots.awaitsSettings { return false }
                return entry.isIdle && (all || entry.idleUntil <= time)
            }
            let old = entries.filter(isOld)
            if !old.isEmpty { entries.removeAll(where: isOld) }
            return old.map(\.id)
        }
    }
}
