#if Persistence
    import Foundation
    import LoadingKitPrimitives
    import TestSupport
    import Testing

    @testable import LoadingKitCore
    @testable import LoadingKitPersistence

    @Suite("ResponseDatabase")
    struct ResponseDatabaseTests {
        /// Of those it is not known with whose credentials they were obtained, and they may have these in clear.
        @Test("what the first version stored is gone, in the file too")
        func firstVersion() async throws {
            let test = try CacheFolder()
            try StoreFolder.make(test.bodies)
            try Data("hidden body".utf8).write(to: test.bodies.appendingPathComponent("0000000000000007"))
            try test.database().use { connection in
                try connection.execute(ResponseIndex.schema.steps[0])
                for index in 0..<100 {
                    try connection.run(
                        "INSERT INTO response (method, url, selecting, head, body, size, digest, cost, stored, used) "
                            + "VALUES ('GET', ?, 'hidden', 'hidden', 7, 11, '', 20, 0, 0)",
                        ["http://hidden@h.example/path/\(index)"])
                }
                try connection.execute("PRAGMA user_version = 1")
            }
            let store = test.store()
            #expect(test.contents(store, 1).isEmpty && store.usage == 0)
            store.store(test.entry("new"), for: test.key(1))
            await test.flush(store)
            #expect(test.contents(store, 1) == ["new"])
            #expect(try test.bodyCount() == 1)
            try test.database().use { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
            let data = try Data(contentsOf: test.databaseFile)
            #expect(data.range(of: Data("hidden".utf8)) == nil)
        }

        @Test("what is stored is there again, as it was")
        func roundTrip() async throws {
            let test = try CacheFolder()
            let metadata = CacheMetadata(
                requestTime: Date(timeIntervalSince1970: 1.25), responseTime: Date(timeIntervalSince1970: 2.5),
                varyKey: [.init(name: "a", value: nil), .init(name: "é", value: "")],
                owner: .init(credentials: Data([1, 2]), cookies: Data()), part: .init(start: 3, total: nil),
                lacksContent: true)
            let url = try #require(URL(string: "http://h/a?ü#f"))
            var fields = HTTPFields()
            for (name, value) in [("Content-Type", "text/plain"), ("X", "1"), ("X", ""), ("x-é", "ÿ")] {
                fields.append(name: name, value: value)
            }
            let http = HTTPURLResponse(
                url: url, statusCode: 299, httpVersion: "h2", fields: fields, expectedContentLength: 1 << 40)
            let plain = URLResponse(url: url, mimeType: "a/b", expectedContentLength: -1, textEncodingName: nil)
            let userInfo: [AnyHashable: Any] = [
                "a": 1, "b": ["c": [Data([1]), "x", true, 1.5]], "d": Date.distantPast,
            ]
            let all = [
                CachedURLResponse(
                    response: http, data: Data("body".utf8), userInfo: nil, storagePolicy: .allowed, metadata: metadata),
                CachedURLResponse(response: plain, data: Data(), userInfo: userInfo, storagePolicy: .allowed),
                CachedURLResponse(
                    response: plain, data: Data(count: 3_000_000), userInfo: [:], storagePolicy: .allowed),
            ]
            let store = test.store()
            for (index, response) in all.enumerated() {
                store.store(CacheEntry(response: response, date: Date(timeIntervalSince1970: 7)), for: test.key(index))
            }
            await test.flush(store)
            let later = test.store()
            for (index, response) in all.enumerated() {
                let found = later.entries(for: test.key(index))
                #expect(found.count == 1 && found.first?.date == Date(timeIntervalSince1970: 7))
                #expect(found.first?.response == response && found.first?.response.metadata == response.metadata)
                let head = found.first?.response.response as? HTTPURLResponse
                #expect(head?.httpVersion == (index == 0 ? "h2" : nil))
            }
            #expect(later.entries(for: test.key(3)).isEmpty)
            #expect(later.usage > 3_000_000 && later.usage < 3_001_000)
        }

        @Test("what cannot be given back as it is is not kept, and takes the place of what was there")
        func unkept() async throws {
            final class Own: URLResponse, @unchecked Sendable {}  // no state of its own
            let test = try CacheFolder()
            let store = test.store()
            let url = URL(fileURLWithPath: "/")
            let own = Own(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            let plain = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            struct Thing {}
            let userInfos: [[AnyHashable: Any]] = [[1: "a"], ["a": Thing()], ["a": [Thing()]], ["a": [1: 2]]]
            let responses =
                [CachedURLResponse(response: own, data: Data())]
                + userInfos.map {
                    CachedURLResponse(response: plain, data: Data(), userInfo: $0, storagePolicy: .allowed)
                }
            for (index, response) in responses.enumerated() {
                store.store(test.entry("old"), for: test.key(index))
                store.store(CacheEntry(response: response, date: Date()), for: test.key(index))
                #expect(store.entries(for: test.key(index)).isEmpty, "\(index)")
            }
            #expect(store.usage == 0)
        }

        @Test("makes nothing before there is something to keep; then files that their user alone can read")
        func files() async throws {
            let test = try CacheFolder()
            let store = test.store()
            store.setCapacity(1000)
            store.remove(test.key(1))
            store.removeAll()
            await test.flush(store)
            #expect(store.entries(for: test.key(1)).isEmpty && store.usage == 0 && !store.mayHave(test.key(1)))
            #expect(try test.folder.contents().isEmpty)
            store.store(test.entry("a"), for: test.key(1))
            #expect(store.mayHave(test.key(1)))
            await test.flush(store)
            let names = try #require(FileManager.default.subpaths(atPath: test.folder.path))
            #expect(names.count == 7, "\(names)")
            for name in names {
                let attributes = try FileManager.default.attributesOfItem(atPath: test.folder.file(name).path)
                let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == (isFolder ? 0o700 : 0o600), "\(name)")
            }
        }

        @Test("what was not used for longest goes first")
        func eviction() async throws {
            let test = try CacheFolder()
            let store = test.store()
            for index in 0..<10 { store.store(test.entry(size: 1000), for: test.key(index)) }
            await test.flush(store)
            #expect(store.entries(for: test.key(0)).count == 1)
            store.noteUse(of: test.key(1))
            store.setCapacity(6000)
            await test.flush(store)
            func present() -> [Int] { (0..<11).filter { !store.entries(for: test.key($0)).isEmpty } }
            #expect(present() == [0, 1, 7, 8, 9] && store.usage <= 6000)
            #expect(!store.mayHave(test.key(3)))
            #expect(try test.bodyCount() == 5)
            store.store(test.entry(size: 6001), for: test.key(0))
            #expect(present() == [1, 7, 8, 9])
            // Opened with a smaller capacity by a later process.
            let later = test.store()
            later.setCapacity(2200)
            await test.flush(later)
            #expect(later.usage <= 2200)
            #expect(try test.bodyCount() == 2)
        }

        @Test("new responses stay after the clock was set back")
        func evictionByAnEarlierClock() async throws {
            let test = try CacheFolder()
            let store = test.store()
            store.setCapacity(6000)
            for index in 0..<4 { store.store(test.entry(size: 1000), for: test.key(index)) }
            await test.flush(store)
            try test.database().use { connection in
                let tomorrow = Date().timeIntervalSinceReferenceDate + 24 * 3600
                try connection.run("UPDATE response SET used = ?", [tomorrow])
            }
            for index in 4..<6 {
                store.store(test.entry(size: 1000), for: test.key(index))
                await test.flush(store)
            }
            let present = (0..<6).filter { !store.entries(for: test.key($0)).isEmpty }
            #expect(present == [1, 2, 3, 4, 5])
        }

        @Test("variants of a URL stand side by side, not too many")
        func variants() async throws {
            let test = try CacheFolder()
            let store = test.store()
            for index in 0..<20 { store.store(test.entry("\(index)", variant: "\(index)"), for: test.key(0)) }
            store.store(test.entry("again", variant: "10"), for: test.key(0))
            #expect(test.contents(store, 0) == ["again"] + (4..<20).reversed().filter { $0 != 10 }.map { "\($0)" })
            #expect(try test.bodyCount() == 16)
            store.store(test.entry("all"), for: test.key(0))
            #expect(test.contents(store, 0) == ["all"])
            store.store(test.entry("a", variant: "a"), for: test.key(0))
            #expect(test.contents(store, 0) == ["a"])
            #expect(try test.bodyCount() == 1)
        }

        @Test("is forgotten by key, by date, and wholly")
        func removal() async throws {
            let test = try CacheFolder()
            let store = test.store()
            for index in 0..<6 {
                store.store(
                    test.entry("\(index)", date: Date(timeIntervalSince1970: Double(index))), for: test.key(index))
            }
            func present() -> [Int] { (0..<6).filter { !store.entries(for: test.key($0)).isEmpty } }
            store.remove(test.key(1))
            #expect(present() == [0, 2, 3, 4, 5])
            store.removeAll(since: Date(timeIntervalSince1970: 4))
            #expect(present() == [0, 2, 3])
            store.removeAll()
            #expect(present() == [] && store.usage == 0)
            #expect(try test.bodyCount() == 0)
            #expect(!store.mayHave(test.key(0)))
        }

        @Test("what another process stored, replaced or removed is so")
        func twoProcesses() async throws {
            let test = try CacheFolder()
            let (one, two) = (test.store(), test.store())
            one.store(test.entry("1"), for: test.key(1))
            await test.flush(one)
            #expect(test.contents(two, 1) == ["1"])
            two.store(test.entry("2"), for: test.key(1))
            two.store(test.entry("2"), for: test.key(2))
            await test.flush(two)
            #expect(test.contents(one, 1) == ["2"] && test.contents(one, 2) == ["2"])
            two.removeAll()
            await test.flush(two)
            #expect(test.contents(one, 1) == [] && one.usage == 0)
            // Both at once.
            await withTaskGroup(of: Void.self) { group in
                for (store, name) in [(one, "1"), (two, "2")] {
                    group.addTask {
                        for index in 0..<200 { store.store(test.entry("\(name) \(index)"), for: test.key(index)) }
                        await test.flush(store)
                    }
                }
            }
            for index in 0..<200 {
                let (first, second) = (test.contents(one, index), test.contents(two, index))
                #expect(first == second && (first == ["1 \(index)"] || first == ["2 \(index)"]))
            }
            #expect(try test.bodyCount() == 200)
        }

        @Test("keys of responses that another process has removed do not stay known, and others do")
        func removedKeys() async throws {
            let test = try CacheFolder()
            let (one, two) = (test.store(), test.store())
            func known() -> [Int] { (0..<400).filter { one.files.checkPresence(of: test.key($0)).mayHave } }
            for index in 0..<300 { two.store(test.entry("2"), for: test.key(index)) }
            await test.flush(two)
            one.files.look()
            #expect(known() == Array(0..<300))
            two.removeAll()
            two.store(test.entry("2"), for: test.key(301))
            await test.flush(two)
            // Whether it is written before the look, or after it.
            one.store(test.entry("1"), for: test.key(302))
            one.files.look()
            #expect(known() == [301, 302])
            await test.flush(one)
            two.store(test.entry("2"), for: test.key(303))
            await test.flush(two)
            one.files.look()
            #expect(known() == [301, 302, 303])
            #expect(test.contents(one, 302) == ["1"])
        }

        @Test("a later process finds it, one that is alone removes what belongs to nothing, and none that is not")
        func orphans() async throws {
            let test = try CacheFolder()
            do {
                let store = test.store()
                store.store(test.entry("a"), for: test.key(1))
                await test.flush(store)
                for name in ["0000000000000001", "strange"] {
                    try test.folder.write("orphan", to: "own/Contents/\(name)")
                }
                let other = test.store()
                #expect(test.contents(other, 1) == ["a"])
                #expect(try test.bodyCount() == 3)
            }
            try await test.isLeft()
            let later = test.store()
            #expect(test.contents(later, 1) == ["a"])
            #expect(try test.bodyCount() == 1)
        }
    }
#endif
