import LoadingKitPrimitives

extension HTTPConnectionPool {
    /// The users whose requests may use a connection.
    enum Binding: Sendable, Equatable {
        /// All users: each request identifies its user itself.
        case none
        /// The connection was authenticated (NTLM, Negotiate), for requests of this user and for those that name no
        /// user.
        case user(UserCredential)
        /// The connection was authenticated for the user in a URL, and is for requests whose URLs name the same user.
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

        /// The binding of a connection on which a request is sent that authenticates it for `user`. A connection that was
        /// bound to another user is not used again, as it is unknown which of the two the server takes it for.
        func joined(with user: Binding) -> Binding {
            switch (self, user) {
            case (.none, _), (user, _): user
            case (.user(let one), .namedUser(let other)) where one == other: user
            case (.namedUser(let one), .user(let other)) where one == other: self
            case _: .spent
            }
        }
    }

    /// An object, to make copies cheap: most requests and connections name no user.
    final class UserCredential: Hashable, Sendable {
        let user: String?
        let password: String?

        init(user: String?, password: String?) {
            self.user = user
            self.password = password
        }

        static func == (left: UserCredential, right: UserCredential) -> Bool {
            left.user.hasSameBytes(as: right.user) && left.password.hasSameBytes(as: right.password)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(user)
            hasher.combine(password)
        }
    }

    enum RequestUser: Sendable, Equatable {
        case none
        /// The request's URL contains the user.
        case named(UserCredential)
        /// The program has set `Authorization` itself.
        case ownField
    }

    /// HTTP/1.1 connections. Each carries one request at a time, except pipelined ones.
    struct HTTP1Connections: Sendable, CustomStringConvertible {
        private struct Idle {
            let id: ConnectionID
            let binding: Binding
            let until: MonotonicTime
        }

        /// The last one used is used first, so that unneeded connections grow old.
        private var idle: [Idle] = []
        /// The connections that carry a request, by the index of their identifiers.
        private var active: [ConnectionID?] = []
        /// The times after which the connections take no requests, by the index of their identifiers.
        private var retirements: [MonotonicTime] = []
        private(set) var activeCount = 0
        private(set) var pipelined: [ConnectionID] = []

        var count: Int { idle.count + activeCount }
        var isEmpty: Bool { count == 0 }
        var hasIdle: Bool { !idle.isEmpty }
        func hasIdle(for user: RequestUser) -> Bool { idle.contains { $0.binding.suits(user) } }

        var description: String { "idle \(idle.count) active \(activeCount)" }

        mutating func note(_ id: ConnectionID, retiresAt: MonotonicTime) {
            while retirements.count <= id.index { retirements.append(.distantFuture) }
            retirements[id.index] = retiresAt
        }

        /// The time after which the connection takes no requests.
        func retirement(of id: ConnectionID) -> MonotonicTime {
            id.index < retirements.count ? retirements[id.index] : .distantFuture
        }

        var idleConnections: [ConnectionID] { idle.map(\.id) }
        var activeConnections: [ConnectionID] { active.compactMap(\.self) }
        func isActive(_ id: ConnectionID) -> Bool { id.index < active.count && active[id.index] == id }

        mutating func activate(_ id: ConnectionID, pipelines: Bool) {
            while active.count <= id.index { active.append(nil) }
            active[id.index] = id
            activeCount += 1
            if pipelines { pipelined.append(id) }
        }

        /// Returns false if the connection had no request.
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

        /// Connections that are too old are added to `expired`.
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

        mutating func popIdle(before time: MonotonicTime) -> [ConnectionID] {
            let old = idle.filter { $0.until <= time }
            if !old.isEmpty { idle.removeAll { $0.until <= time } }
            return old.map(\.id)
        }
    }

    /// The streams that an HTTP/2 connection can carry.
    struct StreamSlots: Sendable, Equatable, CustomStringConvertible {
        var available: Int
        var open: Int
        /// Whether no stream may begin before the server has announced if streams may switch to another protocol, as the
        /// requests need, or before it has answered a PING.
        var awaitsServer = false
        /// The open streams that have switched to another protocol, or are to.
        var switched = 0

        var description: String { "open \(open) of \(open + available)" + (awaitsServer ? " awaits the server" : "") }
    }

    /// HTTP/2 connections, each of which carries many requests at a time.
    struct HTTP2Connections: Sendable, CustomStringConvertible {
        struct Entry: Sendable {
            let id: ConnectionID
            var slots: StreamSlots
            /// The time after which the connection takes no requests.
            let retiresAt: MonotonicTime
            /// `distantFuture` while the connection is not idle.
            var idleUntil = MonotonicTime.distantFuture
            var assignedCount = 0

            func takesRequests(_ now: MonotonicTime) -> Bool { retiresAt > now }

            func hasSlot(_ now: MonotonicTime) -> Bool {
                slots.available > 0 && !slots.awaitsServer && takesRequests(now)
            }

            var isIdle: Bool { slots.open == 0 }
            /// Whether the connection carries other protocols alone, such as WebSockets, which may stay open for any time.
            var hasSwitchedAlone: Bool { slots.open > 0 && slots.switched == slots.open }
        }

        private(set) var entries: [Entry] = []

        var description: String {
            entries.isEmpty ? "no connection" : entries.map { "\($0.slots)" }.joined(separator: " ")
        }

        var isEmpty: Bool { entries.isEmpty }
        var awaitsServer: Bool { entries.contains { $0.slots.awaitsServer } }
        var hasIdle: Bool { entries.contains(where: \.isIdle) }

        func countOfThoseThatTakeRequests(_ now: MonotonicTime) -> Int { entries.count { $0.takesRequests(now) } }

        func firstWithSlot(_ now: MonotonicTime) -> ConnectionID? { entries.first { $0.hasSlot(now) }?.id }

        /// - Parameter sparesUnsettled: whether requests wait for connections whose settings have not arrived.
        func firstIdle(_ now: MonotonicTime, sparesUnsettled: Bool) -> ConnectionID? {
            entries.first {
                $0.isIdle && $0.takesRequests(now) && !(sparesUnsettled && $0.slots.awaitsServer)
            }?.id
        }

        func firstSwitchedAlone(_ now: MonotonicTime) -> ConnectionID? {
            entries.first { $0.hasSwitchedAlone && $0.takesRequests(now) && !$0.slots.awaitsServer }?.id
        }

        subscript(id: ConnectionID) -> Entry? { index(of: id).map { entries[$0] } }

        private func index(of id: ConnectionID) -> Int? { entries.firstIndex { $0.id == id } }
        mutating func insert(_ entry: Entry) { entries.append(entry) }
        mutating func remove(_ id: ConnectionID) -> Entry? { index(of: id).map { entries.remove(at: $0) } }

        /// - Parameter switches: whether the stream is to switch to another protocol.
        mutating func takeSlot(of id: ConnectionID, switches: Bool = false) {
            guard let index = index(of: id) else { return }
            entries[index].slots.available -= 1
            entries[index].slots.open += 1
            if switches { entries[index].slots.switched += 1 }
            entries[index].assignedCount += 1
            entries[index].idleUntil = .distantFuture
        }

        /// Returns false if the connection takes no new requests any more.
        mutating func set(_ slots: StreamSlots, of id: ConnectionID) -> Bool {
            guard let index = index(of: id) else { return false }
            entries[index].slots = slots
            return true
        }

        mutating func awaitServer(_ id: ConnectionID) {
            if let index = index(of: id) { entries[index].slots.awaitsServer = true }
        }

        mutating func keep(_ id: ConnectionID, until: MonotonicTime) {
            if let index = index(of: id) { entries[index].idleUntil = until }
        }

        /// - Parameter sparesUnsettled: whether requests wait for connections whose settings have not arrived.
        mutating func popIdle(before time: MonotonicTime, all: Bool, sparesUnsettled: Bool) -> [ConnectionID] {
            func isOld(_ entry: Entry) -> Bool {
                if sparesUnsettled, entry.slots.awaitsServer { return false }
                return entry.isIdle && (all || entry.idleUntil <= time)
            }
            let old = entries.filter(isOld)
            if !old.isEmpty { entries.removeAll(where: isOld) }
            return old.map(\.id)
        }
    }
}
