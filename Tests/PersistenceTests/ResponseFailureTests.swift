#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitTransport
    import TestSupport
    import Testing

    @testable import LoadingKitPersistence

    /// What goes wrong with a cache's folder.
    @Suite("ResponseDatabase: failures")
    struct ResponseFailureTests {
        private func filled(_ test: CacheFolder) async -> ResponseDatabase {
            let store = test.store()
            for index in 0..<5 { store.store(test.entry("text \(index)"), for: test.key(index)) }
            await test.flush(store)
            return store
        }

        @Test(
            "a content that is not as it was written is a miss",
            arguments: ["", "text", "text 0 and more", "text x", nil])
        func damagedContents(content: String?) async throws {
            let test = try CacheFolder()
            let store = await filled(test)
            for name in try FileManager.default.contentsOfDirectory(atPath: test.bodies.path) {
                let file = test.bodies.appendingPathComponent(name)
                if let content {
                    try Data(content.utf8).write(to: file)
                } else {
                    try FileManager.default.removeItem(at: file)
                }
            }
            for index in 0..<5 { #expect(test.contents(store, index).isEmpty) }
            // What is damaged is forgotten.
            #expect(store.usage == 0)
            store.store(test.entry("new"), for: test.key(0))
            #expect(test.contents(store, 0) == ["new"])
        }

        @Test(
            "a row that is not as it was written is a miss",
            arguments: [
                "head = x''", "head = x'01'", "head = 'text'", "head = zeroblob(100000)", "body = 0", "body = 'x'",
                "body = body + 1", "size = 3", "size = -1", "size = 'x'", "size = 9000000000000000000",
                "digest = x'00'", "digest = 5", "url = 'http://h.example/path/9'", "method = 'PUT'",
                "body = (SELECT body FROM response WHERE id = 5)", "head = substr(head, 1, length(head) - 1)",
                "url = x'FF'", "stored = 'x', used = 'y', cost = 'z'", "cost = -5", "cost = 9000000000000000000",
            ])
        func damagedRows(change: String) async throws {
            let test = try CacheFolder()
            _ = await filled(test)
            try await test.isLeft()
            try test.database().use { try $0.execute("UPDATE response SET \(change) WHERE id = 1") }
            let store = test.store()
            let isHarmless = change.hasPrefix("stored") || change.hasPrefix("cost")
            #expect(test.contents(store, 0) == (isHarmless ? ["text 0"] : []))
            for index in 1..<5 { #expect(test.contents(store, index) == ["text \(index)"]) }
            #expect(test.contents(store, 9).isEmpty)
            // It can go on.
            store.setCapacity(1 << 20)
            store.store(test.entry("new"), for: test.key(0))
            #expect(change.hasPrefix("cost = 9") || test.contents(store, 0) == ["new"])
            store.removeAll()
            #expect(store.entries(for: test.key(1)).isEmpty)
        }

        @Test("a damaged database is put aside, and begun anew", arguments: [100, 5000, 60_000])
        func damagedDatabase(offset: Int) async throws {
            let test = try CacheFolder()
            do {
                let store = test.store()
                for index in 0..<300 { store.store(test.entry("text \(index)"), for: test.key(index)) }
                await test.flush(store)
            }
            try await test.isLeft()
            let file = test.databaseFile
            try test.database().use { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
            var bytes = try Data(contentsOf: file)
            for index in bytes.indices where index >= offset { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
            if offset == 100 { bytes = Data("no database".utf8) + bytes }
            try bytes.write(to: file)
            let log = RecordedLog()
            let store = test.store(log)
            for index in 0..<300 {
                let found = test.contents(store, index)
                #expect(found.isEmpty || found == ["text \(index)"])
            }
            for index in 0..<300 { store.store(test.entry("new \(index)"), for: test.key(index)) }
            for index in 0..<300 { #expect(test.contents(store, index) == ["new \(index)"]) }
            #expect(log.lines.count == 1 && log.lines.first?.contains("put aside") == true, "\(log.lines)")
        }

        @Test("a database of a newer version is left alone")
        func newerVersion() async throws {
            let test = try CacheFolder()
            _ = await filled(test)
            try await test.isLeft()
            try test.database().use { try $0.execute("PRAGMA user_version = 99") }
            let log = RecordedLog()
            let store = test.store(log)
            #expect(test.contents(store, 1).isEmpty && !store.mayHave(test.key(1)))
            store.store(test.entry("new"), for: test.key(1))
            await test.flush(store)
            #expect(test.contents(store, 1).isEmpty && log.lines.count == 1 && log.lines[0].contains("newer"))
            let count = try test.database().use { try $0.first(Int.self, "SELECT count(*) FROM response") }
            #expect(count == 5)
        }

        @Test(
            "a disk that is full, or may not be written to, is given up with one line of the log",
            arguments: [
                FaultPlan.Entry(.write, .from(1), .fail(ENOSPC)), .init(.open, .from(1), .fail(EROFS)),
                .init(.open, .from(2), .fail(EACCES)), .init(.write, .nth(1), .fail(EFBIG)),
                .init(.write, .nth(1), .fail(EIO)),
            ])
        func failingCalls(fault: FaultPlan.Entry) async throws {
            let test = try CacheFolder()
            let log = RecordedLog()
            let store = test.store(log)
            let plan = FaultPlan([fault])
            await withCheckedContinuation { done in
                plan.run {
                    for index in 0..<3 { store.store(test.entry("\(index)"), for: test.key(index)) }
                    store.flush { done.resume() }
                }
            }
            #expect(plan.injectedCount > 0 && log.lines.count == 1 && log.lines[0].contains("in memory alone"))
            store.store(test.entry("a"), for: test.key(1))
            await test.flush(store)
            #expect(store.entries(for: test.key(1)).isEmpty && store.usage == 0 && !store.mayHave(test.key(1)))
            #expect(log.lines.count == 1)
        }

        @Test("contents whose rows cannot be written are removed", arguments: [false, true])
        func contentsOfAFailedTransaction(isOfDatabase: Bool) async throws {
            let test = try CacheFolder()
            let store = await filled(test)
            if isOfDatabase {
                try store.files.database.write {
                    try $0.execute(
                        "CREATE TRIGGER full BEFORE INSERT ON response WHEN NEW.url LIKE '%/8' "
                            + "BEGIN SELECT raise(FAIL, 'full'); END")
                }
            }
            let changes = (6..<9).map { ResponseChange.store(test.entry("text \($0)"), test.key($0)) }
            for change in changes { #expect(store.files.expect(change)) }
            let plan = FaultPlan(isOfDatabase ? [] : [.init(.write, .nth(3), .fail(ENOSPC))])
            plan.run { store.files.write(changes) }
            #expect(store.files.isOff)
            let rows = try test.database().use { try $0.first(Int.self, "SELECT count(*) FROM response") }
            #expect(rows == 5)
            #expect(try test.bodyCount() == 5)
        }

        @Test("a folder that can be written to again is begun anew", arguments: [SystemCalls.Name.write, .open])
        func recovery(name: SystemCalls.Name) async throws {
            let test = try CacheFolder()
            _ = await filled(test)
            try await test.isLeft()
            let log = RecordedLog()
            let store = ResponseDatabase(folder: test.url, log: log.log, retryInterval: 0)
            let plan = FaultPlan([.init(name, .from(1), .fail(name == .write ? ENOSPC : EMFILE))])
            await withCheckedContinuation { done in
                plan.run {
                    store.store(test.entry("text x"), for: test.key(1))
                    store.remove(test.key(2))
                    store.flush { done.resume() }
                }
            }
            #expect(plan.injectedCount > 0 && log.lines.count == 1)
            // What was not replaced or removed could not be told from what was.
            for index in 0..<5 { #expect(test.contents(store, index) == []) }
            store.store(test.entry("new"), for: test.key(3))
            await test.flush(store)
            for store in [store, test.store()] {
                #expect(test.contents(store, 3) == ["new"] && store.usage > 0)
                #expect(test.contents(store, 1).isEmpty && test.contents(store, 2).isEmpty)
            }
            #expect(log.lines.count == 1)
            #expect(try test.bodyCount() == 1)
        }

        #if THREAD_SANITIZER
            private static let filesMayBeLimited = false
        #else
            private static let filesMayBeLimited = true
        #endif

        @Test(
            "a process whose files may not grow goes on in memory, and says so once",
            .enabled(if: filesMayBeLimited, "ThreadSanitizer needs a file of its own that is larger"),
            arguments: [8, 32, 100, 400])
        func fileSizeLimit(blocks: Int) async throws {
            let test = try CacheFolder()
            let log = test.folder.file("log")
            try test.folder.write("", to: "log")
            try await onThread {
                let errors = try FileHandle(forWritingTo: log)
                defer { try? errors.close() }
                let writer = try WritingProgram(
                    ["responses", test.url.path], after: "trap '' XFSZ; ulimit -f \(blocks)",
                    errors: errors.fileDescriptor)
                // It is not the limit that ends it.
                #expect(try writer.killed(from: 1, after: 150, delay: 0) >= 300)
            }
            let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 1 && lines.first?.contains("in memory alone") == true, "\(lines)")
            let store = test.store()
            for number in 0..<40 {
                for entry in store.entries(for: CacheKey(method: "GET", text: "http://h.example/n\(number)")) {
                    let text = String(decoding: entry.response.data, as: UTF8.self)
                    let step = try #require(Int(text.prefix { $0 != "x" }))
                    #expect(step % 40 == number && text.count == "\(step)".count + step * 37 % 9000)
                }
            }
        }

        @Test("a folder that is removed meanwhile is made anew")
        func removedFolder() async throws {
            let test = try CacheFolder()
            let log = RecordedLog()
            let store = test.store(log)
            for round in 0..<3 {
                store.store(test.entry("\(round)"), for: test.key(round))
                #expect(test.contents(store, round) == ["\(round)"])
                if round > 0 { #expect(test.contents(test.store(), round) == ["\(round)"]) }
                try FileManager.default.removeItem(at: test.url)
                #expect(test.contents(store, round).isEmpty)
            }
            #expect(log.lines.isEmpty)
        }

        @Test("short writes and reads are gone on with")
        func shortCalls() async throws {
            let test = try CacheFolder()
            let store = test.store()
            let plan = FaultPlan([.init(.write, .from(1), .short(3)), .init(.read, .from(1), .short(2))])
            plan.run { store.store(test.entry("a longer text"), for: test.key(1)) }
            await test.flush(store)
            #expect(plan.run { test.contents(store, 1) } == ["a longer text"] && plan.injectedCount > 5)
        }

        @Test("a full disk does not bring back what was removed or replaced", arguments: [0, 1, 2])
        func removalOnAFullDisk(kind: Int) async throws {
            let test = try CacheFolder()
            do {
                let store = await filled(test)
                // The database is as full as it may become; files can still be removed.
                let log = RecordedLog()
                let full = test.store(log)
                _ = try full.files.open(creating: true)
                try full.files.database.write {
                    try $0.execute(
                        "CREATE TRIGGER full BEFORE DELETE ON response BEGIN SELECT raise(FAIL, 'full'); END")
                }
                switch kind {
                case 0: full.remove(test.key(1))
                case 1: full.store(test.entry("new"), for: test.key(1))
                default: full.removeAll()
                }
                await test.flush(full)
                #expect(full.entries(for: test.key(1)).isEmpty && log.lines.count == 1)
                withExtendedLifetime(store) {}
            }
            #expect(test.contents(test.store(), 1).isEmpty)
        }

        @Test("what is removed or replaced while the folder is not used is gone", arguments: 0..<4)
        func removalAfterAFailure(kind: Int) async throws {
            let test = try CacheFolder()
            let store = await filled(test)
            let plan = FaultPlan([.init(.write, .from(1), .fail(ENOSPC))])
            await withCheckedContinuation { done in
                plan.run {
                    store.store(test.entry("new"), for: test.key(0))
                    store.flush { done.resume() }
                }
            }
            #expect(store.files.isOff)
            switch kind {
            case 0: store.remove(test.key(2))
            case 1: store.store(test.entry("new"), for: test.key(2))
            case 2: store.removeAll()
            default: store.removeAll(since: .distantPast)
            }
            await test.flush(store)
            let later = test.store()
            #expect(test.contents(later, 2).isEmpty)
            #expect(test.contents(later, 1) == (kind < 2 ? ["text 1"] : []))
        }

        @Test("a file in the way of the folder leaves the cache in memory")
        func fileInTheWay() async throws {
            let test = try CacheFolder()
            try test.folder.write("in the way", to: "own")
            let log = RecordedLog()
            let store = test.store(log)
            let cache = URLCache(memoryCapacity: 10_000, diskCapacity: 10_000, disk: store)
            let request = URLRequest(url: try #require(URL(string: "http://h/")))
            cache.storeCachedResponse(test.entry("a").response, for: request)
            await cache.flush()
            #expect(cache.cachedResponse(for: request) != nil && cache.currentDiskUsage == 0 && log.lines.count == 1)
        }
    }
#endif
