import Foundation
import LoadingKitPrimitives

/// Cookies in memory, by site. The time of a look-up depends on the number of the site's cookies, not on the total
/// number.
struct CookieJar: Sendable {
    private struct Entry: Sendable {
        var record: CookieRecord
        /// Increases with each new cookie. Of two cookies with the same time of creation, the smaller number is the
        /// older one.
        let serial: UInt64
        var lastUse: UInt64
    }

    private struct Place: Hashable, Sendable {
        let site: String
        let identity: CookieRecord.Identity
    }

    private struct End: Sendable {
        let place: Place
        let time: Date
    }

    private struct EndOrder: IndexedHeapOrder, Sendable {
        var indices: [Place: Int] = [:]

        static func precedes(_ a: End, _ b: End) -> Bool { a.time < b.time }

        mutating func store(_ index: Int, of end: End) { indices[end.place] = index < 0 ? nil : index }
    }

    private let limits: CookieLimits
    private var sites: [String: [Entry]] = [:]
    /// All cookies, for the removal of the least recently used.
    private var uses: LeastRecentlyUsedStore<Place, Place>
    private var serial: UInt64 = 0
    private var clock: UInt64 = 0
    /// The expiry times of cookies, the earliest first.
    private var ends = IndexedHeap<EndOrder>()
    /// The number of cookies with an expiry time.
    var endCount: Int { ends.count }

    init(limits: CookieLimits = CookieLimits()) {
        self.limits = limits
        uses = LeastRecentlyUsedStore(capacity: max(1, limits.totalCount))
    }

    var count: Int { uses.count }

    /// The cookies that have not expired, the oldest first.
    func records(at now: Date) -> [CookieRecord] {
        sites.values.joined().filter { !$0.record.isExpired(at: now) }.sorted { $0.serial < $1.serial }.map(\.record)
    }

    /// The cookies for a request, in the order in which they are sent: those with longer paths first, then those
    /// created earlier (RFC 6265bis §5.8.3).
    mutating func records(for query: CookieQuery, at now: Date) -> [CookieRecord] {
        guard let matching = sites[query.site]?.indices(where: { query.matches($0.record, at: now) }) else { return [] }
        clock += 1
        var found: [Entry] = []
        for index in matching.ranges.joined() {
            sites[query.site]?[index].lastUse = clock
            guard let entry = sites[query.site]?[index] else { continue }
            found.append(entry)
            _ = uses.value(for: Place(site: query.site, identity: entry.record.identity))
        }
        return found.sorted(by: Self.isSentBefore).map(\.record)
    }

    private static func isSentBefore(_ first: Entry, _ second: Entry) -> Bool {
        let (one, other) = (first.record.identity.path.utf8.count, second.record.identity.path.utf8.count)
        if one != other { return one > other }
        let (date, otherDate) = (first.record.creation, second.record.creation)
        return date == otherDate ? first.serial < second.serial : date < otherDate
    }

    /// Whether a cookie from an insecure origin would hide a `Secure` cookie (RFC 6265bis §5.7, "leave secure cookies
    /// alone").
    func hasSecureCookie(hiddenBy record: CookieRecord, at now: Date) -> Bool {
        let identity = record.identity
        return sites[PublicSuffixes.site(of: identity.domain)]?.contains { entry in
            let other = entry.record.identity
            return entry.record.isSecure && !entry.record.isExpired(at: now)
                && other.name.hasSameBytes(as: identity.name)
                && (CookieHost.matches(other.domain, domain: identity.domain)
                    || CookieHost.matches(identity.domain, domain: other.domain))
                && CookiePath.matches(identity.path, cookie: other.path)
        } ?? false
    }

    // MARK: Changes

    /// Stores a cookie, and replaces the one with the same identity. A cookie that has already expired only removes
    /// that cookie.
    mutating func store(_ record: CookieRecord, at now: Date) -> [CookieChange] {
        var changes = removeExpired(at: now)
        guard !record.isExpired(at: now) else { return changes + remove(record.identity) }
        clock += 1
        let place = Place(site: PublicSuffixes.site(of: record.identity.domain), identity: record.identity)
        if let index = sites[place.site]?.firstIndex(where: { $0.record.identity == record.identity }) {
            changes += replace(at: index, of: place, with: record)
        } else {
            serial += 1
            sites[place.site, default: []].append(Entry(record: record, serial: serial, lastUse: clock))
            changes.append(.stored(record, replacing: nil))
            changes += uses.insert(place, for: place, cost: 1).compactMap { take($0) }.map { .removed($0) }
        }
        setEnd(record.expires, of: place)
        return changes + shrink(place.site)
    }

    private mutating func setEnd(_ end: Date?, of place: Place) {
        if let index = ends.order.indices[place] { _ = ends.remove(at: index) }
        if let end { ends.insert(End(place: place, time: end)) }
    }

    private mutating func replace(at index: Int, of place: Place, with record: CookieRecord) -> [CookieChange] {
        guard let old = sites[place.site]?[index].record else { return [] }
        _ = uses.value(for: place)
        sites[place.site]?[index].lastUse = clock
        guard !old.hasSameContent(as: record) else {
            // Not written to disk: servers send the same cookie again and again.
            sites[place.site]?[index].record.stored = max(old.stored, record.stored)
            return []
        }
        var record = record
        record.creation = old.creation
        sites[place.site]?[index].record = record
        return [.stored(record, replacing: old)]
    }

    mutating func remove(_ identity: CookieRecord.Identity) -> [CookieChange] {
        let place = Place(site: PublicSuffixes.site(of: identity.domain), identity: identity)
        guard uses.remove(place) != nil, let record = take(place) else { return [] }
        return [.removed(record)]
    }

    mutating func removeAll(where isRemoved: (CookieRecord) -> Bool) -> [CookieChange] {
        sites.values.joined().map(\.record).filter(isRemoved).flatMap { remove($0.identity) }
    }

    /// Removes a cookie from its site and from ``ends``. The caller has removed it from ``uses``.
    private mutating func take(_ place: Place) -> CookieRecord? {
        setEnd(nil, of: place)
        guard let index = sites[place.site]?.firstIndex(where: { $0.record.identity == place.identity }) else {
            return nil
        }
        let entry = sites[place.site]?.remove(at: index)
        if sites[place.site]?.isEmpty == true { sites[place.site] = nil }
        return entry?.record
    }

    // MARK: Limits

    private mutating func removeExpired(at now: Date) -> [CookieChange] {
        var changes: [CookieChange] = []
        while let end = ends.first, end.time <= now {
            _ = ends.remove(at: 0)
            changes += remove(end.place.identity)
        }
        return changes
    }

    /// Removes cookies while a site has too many, in the order of RFC 6265bis §5.7: cookies without `Secure` first, and
    /// of those the least recently used.
    private mutating func shrink(_ site: String) -> [CookieChange] {
        var changes: [CookieChange] = []
        while let entries = sites[site], entries.count > limits.siteCount, let first = entries.min(by: Self.goesBefore)
        {
            changes += remove(first.record.identity)
        }
        return changes
    }

    private static func goesBefore(_ first: Entry, _ second: Entry) -> Bool {
        if first.record.isSecure != second.record.isSecure { return second.record.isSecure }
        return (first.lastUse, first.serial) < (second.lastUse, second.serial)
    }
}

/// A change of the cookies in memory, or a removal that is also for the stored cookies of other processes.
enum CookieChange: Sendable {
    case stored(CookieRecord, replacing: CookieRecord?)
    case removed(CookieRecord)
    /// The program has removed a cookie, which may not be in memory.
    case removedByProgram(CookieRecord.Identity)
    /// A server has removed a cookie, which may not be in memory.
    case removedByServer(CookieRecord.Identity)
    /// The program has removed the cookies that were stored at or after a date, also those that are not in memory.
    case removedAll(since: Date)

    var isInMemory: Bool {
        switch self {
        case .stored, .removed: true
        case .removedByProgram, .removedByServer, .removedAll: false
        }
    }
}
