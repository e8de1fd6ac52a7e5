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
        let kept: [CookieRecord]

        init(kept: [CookieRecord] = []) { self.kept = kept }

        let stored = Box<String?>(nil)

        func load() throws -> [CookieRecord] { kept }

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

        /// The names of what each batch saves, and `-` with those that it deletes.
        var summary: [String] {
            batches.value.map { edits in
                edits.map { edit in
                    switch edit {
                    case .save(let record): record.name
                    case .delete(let identity): "-" + identity.name
                    }
                }.joined(separator: " ")
            }
        }
    }

    private func cookie(_ name: String, _ value: String = "v", isSession: Bool = false) throws -> HTTPCookie {
        try #require(
            HTTPCookie(properties: [
                .name: name, .value: value, .domain: "h.example", .path: "/",
                .expires: isSession ? "" : Date(timeIntervalSinceNow: 1000),
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
        storage.deleteCookie(try cookie("s"))
        #expect(slow.summary.count == 2, "nothing of that is kept")
        storage.setCookie(try cookie("c", isSession: true))
        #expect(slow.summary.last == "-c")
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
        #expect(first.map(\.identity.name) == (2000..<12_000).map { "\($0)" })
        add(12_000..<13_000)
        _ = queue.finish(CocoaError(.fileWriteOutOfSpace))
        let second = queue.next() ?? []
        #expect(second.map(\.identity.name) == (3000..<13_000).map { "\($0)" })
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
