import Foundation
import TestSupport
import Testing

@testable import LoadingKitCore

@Suite("Cookie writing")
struct CookieWritingTests {
    /// Keeps batches until a test says what became of them.
    private final class Slow: CookiePersistence {
        private let waiting = Box<[@Sendable ((any Error)?) -> Void]>([])
        let batches = Box<[[CookieEdit]]>([])
        let kept: Box<[CookieRecord]>

        init(kept: [CookieRecord] = []) { self.kept = Box(kept) }

        let stored = Box<String?>(nil)

        func load() throws -> [CookieRecord] { kept.value }

        func version() throws -> String? { stored.value }

        func write(_ edits: [CookieEdit], completion: @escaping @Sendable ((any Error)?) -> Void) {
            batches.value.append(edits)
            waiting.value.append(completion)
        }

        func finish(_ error: (any Error)? = nil) {
            let first = waiting.update { $0.isEmpty ? nil : $0.removeFirst() }
            first?(error)
        }

        /// A storage waits for its last batch, and whoever keeps that keeps the storage.
        func stop() { waiting.value = [] }

        /// The summaries of each batch's changes.
        var summary: [String] { batches.value.map { $0.map(\.summary).joined(separator: " ") } }
    }

    private func cookie(
        _ name: String, _ value: String = "v", isSession: Bool = false, lifetime: TimeInterval = 1000
    ) throws -> HTTPCookie {
        try #require(
            HTTPCookie(properties: [
                .name: name, .value: value, .domain: "h.example", .path: "/",
                .expires: isSession ? "" : Date(timeIntervalSinceNow: lifetime),
            ]))
    }

    @Test("one batch at a time, with all that came together")
    func batches() throws {
        let slow = Slow()
        defer { slow.stop() }
        let storage = HTTPCookieStorage(persistence: slow)
        let cookies = try ["a", "b", "c"].map { try cookie($0) }
        for cookie in cookies { storage.setCookie(cookie) }
        storage.deleteCookie(cookies[1])
        #expect(slow.summary == ["a"])
        slow.finish()
        #expect(slow.summary == ["a", "c -b"])
        slow.finish()
        storage.setCookie(cookies[2])
        storage.setCookie(try cookie("s", isSession: true))
        #expect(slow.summary.count == 2, "nothing of that is kept")
        storage.setCookie(try cookie("c", isSession: true))
        #expect(slow.summary.last == "-c")
        slow.finish()
        storage.deleteCookie(try cookie("s"))
        #expect(slow.summary.last == "-s", "another process may have stored it")
    }

    @Test("a removal is written also where the cookie is not in memory, and what is stored after it stays")
    func removal() throws {
        let slow = Slow()
        defer { slow.stop() }
        let storage = HTTPCookieStorage(persistence: slow)
        storage.deleteCookie(try cookie("a"))
        storage.deleteCookie(try cookie("a"))
        storage.setCookie(try cookie("b"))
        storage.removeCookies(since: .distantPast)
        storage.setCookie(try cookie("b", "new"))
        storage.setCookie(try cookie("c", lifetime: -1))
        #expect(slow.summary == ["-a"])
        slow.finish()
        #expect(slow.summary.last == "-a -all b -c")
        #expect(storage.cookies?.map(\.value) == ["new"])
    }

    @Test("of several removals since dates, those are written that no later one includes")
    func removalsSinceDates() throws {
        let slow = Slow()
        defer { slow.stop() }
        let storage = HTTPCookieStorage(persistence: slow)
        storage.setCookie(try cookie("a"))
        let dates = [10, 30, 20, 40, 40].map { Date(timeIntervalSinceReferenceDate: $0) }
        for date in dates { storage.removeCookies(since: date) }
        slow.finish()
        let since = slow.batches.value.last?.compactMap { edit in
            if case .deleteAll(let since, _) = edit { since } else { nil as Date? }
        }
        #expect(since == [dates[0], dates[2], dates[4]])
    }

    @Test("a removal includes no earlier one after the clock was set back")
    func removalAfterTheClockWasSetBack() throws {
        let slow = Slow()
        defer { slow.stop() }
        let now = Box(Date(timeIntervalSinceReferenceDate: 100))
        let storage = HTTPCookieStorage(persistence: slow, now: { now.value })
        storage.setCookie(try cookie("a"))
        for seconds in [100, 50, 60] as [Double] {
            now.value = Date(timeIntervalSinceReferenceDate: seconds)
            storage.removeCookies(since: .distantPast)
        }
        slow.finish()
        let dates = [100, 60].map { Date(timeIntervalSinceReferenceDate: $0) }
        let removals = slow.batches.value.last?.filter { $0.summary == "-all" }
        #expect(removals == dates.map { .deleteAll(since: .distantPast, until: $0) })
    }

    @Test("what is removed does not come back with a reload before the removal is written")
    func reloadBeforeRemoval() throws {
        let slow = Slow()
        defer { slow.stop() }
        let end = Date()
        let storage = HTTPCookieStorage(persistence: slow, now: { end + 2 })
        storage.removeCookies(since: end)
        storage.deleteCookie(try cookie("b"))
        var records = try ["a", "b", "c"].map { try cookie($0).record }
        records[0].stored = end + 1
        for index in 1...2 { records[index].stored = end - 1 }
        slow.kept.value = records
        slow.stored.value = "1"
        storage.reload()
        #expect(storage.cookies?.map(\.name) == ["c"])
        records[0].stored = end + 3
        (slow.kept.value, slow.stored.value) = (records, "2")
        storage.reload()
        #expect(storage.cookies?.map(\.name).sorted() == ["a", "c"], "one was stored after the removal")
        slow.finish()
        slow.finish()
        slow.stored.value = "3"
        storage.reload()
        #expect(storage.cookies?.map(\.name).sorted() == ["a", "b", "c"])
    }

    @Test("what a server removes with each response is deleted once a minute")
    func repeatedRemoval() throws {
        let slow = Slow()
        defer { slow.stop() }
        let now = Box(Date())
        let storage = HTTPCookieStorage(persistence: slow, now: { now.value })
        func receiveRemoval(of name: String, from url: String = "https://h.example/") throws {
            storage.setCookies([try cookie(name, lifetime: -1000)], for: URL(string: url), mainDocumentURL: nil)
            slow.finish()
        }
        for _ in 0..<3 { try receiveRemoval(of: "a") }
        #expect(slow.summary == ["-a"])
        try receiveRemoval(of: "b")
        #expect(slow.summary == ["-a", "-b"])
        // The cookie of another process may be `Secure`.
        try receiveRemoval(of: "c", from: "http://h.example/")
        #expect(slow.summary.count == 2)
        now.value += 61
        try receiveRemoval(of: "a")
        #expect(slow.summary == ["-a", "-b", "-a"])
        storage.deleteCookie(try cookie("a"))
        slow.finish()
        #expect(slow.summary.count == 4, "the program's removal is always written")
    }

    @Test("a flush ends with what was changed before it")
    func flush() throws {
        let slow = Slow()
        defer { slow.stop() }
        let storage = HTTPCookieStorage(persistence: slow)
        let done = Box<[String]>([])
        storage.flush { _ in done.value.append("nothing") }
        storage.setCookie(try cookie("a"))
        storage.flush { _ in done.value.append("a") }
        storage.setCookie(try cookie("b"))
        storage.flush { _ in done.value.append("b") }
        #expect(done.value == ["nothing"])
        slow.finish()
        #expect(done.value == ["nothing", "a"])
        slow.finish()
        #expect(done.value == ["nothing", "a", "b"])
        HTTPCookieStorage().flush { _ in done.value.append("memory") }
        #expect(done.value.last == "memory")
    }

    @Test("a reload keeps what is not written")
    func reload() throws {
        let slow = Slow()
        defer { slow.stop() }
        let storage = HTTPCookieStorage(persistence: slow)
        for name in ["a", "b"] { storage.setCookie(try cookie(name)) }
        slow.stored.value = "1"
        storage.reload()
        #expect(storage.cookies?.map(\.name) == ["a", "b"])
        slow.finish()
        slow.finish()
        storage.reload()
        #expect(storage.cookies?.map(\.name) == ["a", "b"], "nothing was written since")
        slow.stored.value = "2"
        storage.reload()
        #expect(storage.cookies?.isEmpty == true)
    }

    @Test("what failed is written with the next change or flush")
    func failure() throws {
        let slow = Slow()
        defer { slow.stop() }
        let storage = HTTPCookieStorage(persistence: slow)
        let errors = Box<[Bool]>([])
        storage.setCookie(try cookie("a"))
        storage.setCookie(try cookie("s", isSession: true))
        storage.setCookie(try cookie("b"))
        storage.flush { errors.value.append($0 != nil) }
        slow.finish(CocoaError(.fileWriteOutOfSpace))
        #expect(slow.summary == ["a"])
        storage.flush { errors.value.append($0 != nil) }
        #expect(slow.summary == ["a", "a b"])
        slow.finish()
        #expect(errors.value == [true, false])
        storage.setCookie(try cookie("c"))
        slow.finish(CocoaError(.fileWriteOutOfSpace))
        storage.setCookie(try cookie("d"))
        #expect(slow.summary.suffix(2) == ["c", "c d"])
        slow.finish(CocoaError(.fileWriteOutOfSpace))
        storage.deleteCookie(try cookie("c"))
        #expect(slow.summary.last == "d -c", "of what failed and what came later, the last counts")
    }

    @Test("a slow disk does not make the queue grow")
    func bound() throws {
        let slow = Slow()
        defer { slow.stop() }
        let storage = HTTPCookieStorage(persistence: slow)
        for index in 0..<7000 { storage.setCookie(try cookie("a", "\(index)")) }
        slow.finish()
        #expect(slow.summary == ["a", "a"])
        guard case .save(let last)? = slow.batches.value.last?.last else {
            Issue.record("nothing is saved")
            return
        }
        #expect(last.value == "6999")
    }

    @Test("a broken disk does not make the queue grow: the latest changes are kept")
    func manyCookies() throws {
        var queue = CookieWriteQueue()
        var record = try cookie("n").record
        func add(_ numbers: Range<Int>) {
            for number in numbers {
                record.identity.name = "\(number)"
                queue.add([.removed(record)], at: .distantPast)
            }
        }
        add(0..<12_000)
        let first = queue.next() ?? []
        #expect(first.map(\.summary) == (2000..<12_000).map { "-\($0)" })
        add(12_000..<13_000)
        _ = queue.finish(CocoaError(.fileWriteOutOfSpace))
        let second = queue.next() ?? []
        #expect(second.map(\.summary) == (3000..<13_000).map { "-\($0)" })
    }

    @Test("begins with what was kept, but for what has ended")
    func loading() throws {
        var records = try ["a", "b", "c"].map { try cookie($0).record }
        records[1].expires = .distantPast
        records[2].creation = .distantPast
        let slow = Slow(kept: records)
        let storage = HTTPCookieStorage(persistence: slow)
        #expect(storage.cookies?.map(\.name) == ["c", "a"] && slow.batches.value.isEmpty)
    }
}

extension CookieEdit {
    /// The name of the cookie that is saved, or `-` and what is deleted.
    fileprivate var summary: String {
        switch self {
        case .save(let record): record.name
        case .delete(let identity): "-" + identity.name
        case .deleteAll: "-all"
        }
    }
}
