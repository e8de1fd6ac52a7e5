#if Persistence
    import Foundation
    import LoadingKitCore
    import TestSupport
    import Testing

    @testable import LoadingKitPersistence

    @Suite("CookieDatabase")
    struct CookieDatabaseTests {
        private func cookie(
            _ name: String, _ value: String = "v", with more: [HTTPCookiePropertyKey: Any] = [:]
        ) throws -> HTTPCookie {
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: name, .value: value, .domain: ".h.example", .path: "/", .version: "1", .maximumAge: "1000",
            ]
            return try #require(HTTPCookie(properties: properties.merging(more) { $1 }))
        }

        private func storage(_ file: URL) -> HTTPCookieStorage {
            HTTPCookieStorage(persistence: CookieDatabase(url: file))
        }

        /// A storage that has written one cookie.
        private func storage(_ file: URL, with name: String) async throws -> HTTPCookieStorage {
            let storage = storage(file)
            storage.setCookie(try cookie(name))
            try await storage.flush()
            return storage
        }

        @Test("what is flushed is there again, as it was")
        func roundTrip() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("a/b/Cookies.sqlite")
            let all = [
                try cookie("a"), try cookie("é", "\"ü\""), try cookie("c", with: [.domain: "x.example", .path: "/p"]),
                try cookie(
                    "d", with: [.secure: true, HTTPCookiePropertyKey("HttpOnly"): true, .sameSitePolicy: "none"]),
                try cookie("e", with: [.version: "1", .comment: "c", .commentURL: "http://h/", .port: "1,2"]),
                try cookie("f", with: [.maximumAge: "x", .expires: Date.distantFuture]),
            ]
            let first = storage(file)
            for cookie in all { first.setCookie(cookie) }
            try await first.flush()
            let second = storage(file)
            #expect(second.cookies == all)
            #expect(second.cookies?.map(\.record) == first.cookies?.map(\.record))
        }

        @Test("what another process changes is there after a reload, and the session's cookies are kept")
        func changesOfOthers() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("Cookies.sqlite")
            let own = storage(file)
            own.setCookie(try cookie("session", with: [.maximumAge: ""]))
            own.reload()
            // The first write of its own makes the file.
            own.setCookie(try cookie("a"))
            own.setCookie(try cookie("b"))
            try await own.flush()
            own.reload()
            #expect(own.cookies?.map(\.name) == ["session", "a", "b"])
            let other = storage(file)
            other.deleteCookie(try cookie("a"))
            other.setCookie(try cookie("b", "changed"))
            other.setCookie(try cookie("c"))
            try await other.flush()
            own.reload()
            #expect(own.cookies?.map(\.name) == ["session", "b", "c"])
            #expect(own.cookies?.map(\.value) == ["v", "changed", "v"])
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(at: folder.file("Cookies.sqlite\(suffix)"))
            }
            own.reload()
            #expect(own.cookies?.map(\.name) == ["session"])
        }

        @Test("keeps what is changed and removed, and no cookie of a session")
        func changes() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("Cookies.sqlite")
            let first = storage(file)
            for name in ["a", "b", "c", "d"] { first.setCookie(try cookie(name)) }
            first.setCookie(try cookie("b", "new"))
            first.deleteCookie(try cookie("c"))
            let session: [HTTPCookiePropertyKey: Any] = [.maximumAge: ""]
            first.setCookie(try cookie("d", "session", with: session))
            first.setCookie(try cookie("e", "session", with: session))
            first.setCookie(try cookie("f", with: [.discard: "TRUE"]))
            try await first.flush()
            #expect(first.cookies?.count == 5)
            #expect(storage(file).cookies?.map { $0.name + $0.value } == ["av", "bnew"])
            first.removeCookies(since: .distantPast)
            try await first.flush()
            #expect(storage(file).cookies == [])
        }

        /// The ways in which a program and a server remove the cookie `x`.
        private func removals() throws -> [(HTTPCookieStorage) -> Void] {
            let url = try #require(URL(string: "https://h.example/"))
            let (stored, expired) = (try cookie("x"), try cookie("x", with: [.maximumAge: "0"]))
            let received = HTTPCookie.cookies(
                withResponseHeaderFields: ["Set-Cookie": "x=; Domain=h.example; Path=/; Max-Age=0"], for: url)
            return [
                { $0.removeCookies(since: .distantPast) },
                { $0.deleteCookie(stored) },
                { $0.setCookie(expired) },
                { $0.setCookies(received, for: url, mainDocumentURL: nil) },
            ]
        }

        @Test("what another process has stored is gone when the program or a server removes it")
        func removalsOfOthers() async throws {
            for (index, remove) in try removals().enumerated() {
                let folder = try TemporaryFolder()
                let file = folder.file("Cookies.sqlite")
                let own = storage(file)
                _ = try await storage(file, with: "x")
                remove(own)
                try await own.flush()
                #expect(storage(file).cookies == [], "\(index)")
            }
        }

        @Test("a removal that is not written yet leaves what is stored after it")
        func storedAfterRemovals() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("Cookies.sqlite")
            let own = storage(file)
            _ = try await storage(file, with: "z")
            for (index, remove) in try removals().enumerated() {
                remove(own)
                own.setCookie(try cookie("x", "\(index)"))
                own.setCookie(try cookie("y\(index)"))
            }
            try await own.flush()
            let kept = storage(file).cookies ?? []
            #expect(kept.map { $0.name + $0.value }.sorted() == ["x3", "y0v", "y1v", "y2v", "y3v"])
        }

        @Test("a removal since a date leaves what another process has stored before it")
        func removalSinceDate() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("Cookies.sqlite")
            var (old, new) = (try cookie("old").record, try cookie("new").record)
            let date = Date(timeIntervalSinceNow: -100)
            old.stored = date - 0.5
            new.stored = date
            let own = storage(file)
            let edits = [CookieEdit.save(old), .save(new)]
            try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                CookieDatabase(url: file).write(edits) { error in
                    if let error { done.resume(throwing: error) } else { done.resume() }
                }
            }
            own.removeCookies(since: date)
            try await own.flush()
            #expect(storage(file).cookies?.map(\.name) == ["old"])
        }

        @Test("makes no file before there is something to keep; then one that its user alone can read")
        func files() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("own/Cookies.sqlite")
            let storage = storage(file)
            storage.setCookie(try cookie("a", with: [.maximumAge: ""]))
            storage.deleteCookie(try cookie("b"))
            storage.removeCookies(since: .distantPast)
            try await storage.flush()
            #expect(try folder.contents() == [])
            storage.setCookie(try cookie("a"))
            try await storage.flush()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("own").path)
            #expect(names.contains("Cookies.sqlite") && names.contains("Cookies.sqlite-wal"))
            for (path, mode) in names.map({ ("own/\($0)", 0o600) }) + [("own", 0o700)] {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(path).path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(path)")
            }
        }

        @Test(
            "begins anew with a damaged file", arguments: ["no database at all", "", "SQLite format 3\0 but no more"])
        func damage(content: String) async throws {
            let folder = try TemporaryFolder()
            let file = try folder.write(
                content + String(repeating: "?", count: content.isEmpty ? 0 : 5000), to: "c.sqlite")
            let first = storage(file)
            #expect(first.cookies == [])
            first.setCookie(try cookie("a"))
            try await first.flush()
            #expect(storage(file).cookies?.map(\.name) == ["a"])
            #expect(try folder.contents().contains("c.sqlite.damaged") != content.isEmpty)
        }

        @Test("leaves alone what a newer version wrote, and says so once")
        func newerVersion() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("c.sqlite")
            _ = try await storage(file, with: "a")
            let other = try SQLiteDatabase(path: file.path, busyTimeout: 5000)
            try other.use { try $0.execute("PRAGMA user_version = 2") }
            let log = RecordedLog()
            let second = HTTPCookieStorage(persistence: CookieDatabase(url: file, log: log.log))
            second.setCookie(try cookie("b"))
            await #expect(throws: (any Error).self) { try await second.flush() }
            #expect(second.cookies?.map(\.name) == ["b"] && log.lines.count == 1 && log.lines[0].contains("newer"))
            let names = try other.use { try $0.rows("SELECT name FROM cookie") { $0.value(0, String.self) } }
            #expect(names == ["a"])
        }

        @Test("passes over rows that are no cookies")
        func strangeRows() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("c.sqlite")
            let first = storage(file)
            for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] { first.setCookie(try cookie(name)) }
            try await first.flush()
            try SQLiteDatabase(path: file.path, busyTimeout: 5000).use {
                try $0.execute(
                    """
                    UPDATE cookie SET expires = 'soon' WHERE name = 'a';
                    UPDATE cookie SET value = x'FF00' WHERE name = 'b';
                    UPDATE cookie SET sameSite = 'what' WHERE name = 'c';
                    UPDATE cookie SET legacy = 'x' WHERE name = 'd';
                    UPDATE cookie SET expires = 9e999 WHERE name = 'e';
                    UPDATE cookie SET value = 'a' || char(0) || 'b' WHERE name = 'f';
                    UPDATE cookie SET name = 'g' || char(13, 10) WHERE name = 'g';
                    UPDATE cookie SET name = 'h=x' WHERE name = 'h';
                    UPDATE cookie SET name = 'i=' || char(769) WHERE name = 'i';
                    UPDATE cookie SET name = '' WHERE name = 'j';
                    """)
            }
            let found = storage(file).cookies ?? []
            #expect(found.map(\.name) == ["d", "e"])
            #expect(found.last?.description.isEmpty == false && found.last?.properties?.isEmpty == false)
            #expect(HTTPCookie.requestHeaderFields(with: found) == ["Cookie": "d=v; e=v"])
        }

        @Test("says what could not be written, and writes it when it can")
        func failure() async throws {
            let folder = try TemporaryFolder()
            try folder.write("in the way", to: "own")
            let file = folder.file("own/c.sqlite")
            let first = storage(file)
            first.setCookie(try cookie("a"))
            await #expect(throws: (any Error).self) { try await first.flush() }
            first.setCookie(try cookie("b"))
            first.setCookie(try cookie("s", with: [.maximumAge: ""]))
            await #expect(throws: (any Error).self) { try await first.flush() }
            #expect(first.cookies?.count == 3)
            try FileManager.default.removeItem(at: folder.file("own"))
            try await first.flush()
            #expect(storage(file).cookies?.map(\.name) == ["a", "b"])
        }

        @Test("a write that failed, and is made again, leaves what another process has stored meanwhile")
        func failureBesideAnotherProcess() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("c.sqlite")
            let first = try await storage(file, with: "a")
            let second = storage(file)
            second.setCookie(try cookie("x"))
            try await second.flush()
            let other = try SQLiteDatabase(path: file.path, busyTimeout: 5000)
            try other.use {
                try $0.execute(
                    "CREATE TRIGGER fault BEFORE INSERT ON cookie BEGIN SELECT RAISE(ABORT, 'refused'); END")
            }
            first.setCookie(try cookie("b"))
            await #expect(throws: (any Error).self) { try await first.flush() }
            try other.use { try $0.execute("DROP TRIGGER fault") }
            first.setCookie(try cookie("y"))
            try await first.flush()
            #expect(storage(file).cookies?.map(\.name).sorted() == ["a", "b", "x", "y"])
        }

        @Test("what could not be read at first is there after a write that failed, and was made again")
        func failedLoad() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("c.sqlite")
            _ = try await storage(file, with: "a")
            let other = try SQLiteDatabase(path: file.path, busyTimeout: 5000)
            // A file of a newer version can neither be read nor written.
            try other.use { try $0.execute("PRAGMA user_version = 2") }
            let second = storage(file)
            #expect(second.cookies == [])
            second.setCookie(try cookie("b"))
            await #expect(throws: (any Error).self) { try await second.flush() }
            try other.use { try $0.execute("PRAGMA user_version = 1") }
            try await second.flush()
            #expect(storage(file).cookies?.map(\.name).sorted() == ["a", "b"])
        }

        @Test("a cookie that has expired in one process stays where another has renewed it")
        func renewedElsewhere() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("c.sqlite")
            let now = Box(Date())
            let first = HTTPCookieStorage(persistence: CookieDatabase(url: file), now: { now.value })
            first.setCookie(try cookie("a"))
            try await first.flush()
            let second = storage(file)
            second.setCookie(try cookie("a", "renewed", with: [.maximumAge: "10000"]))
            try await second.flush()
            now.value += 2000
            first.setCookie(try cookie("b", with: [.maximumAge: "10000"]))
            #expect(first.cookies?.map(\.name) == ["b"])
            try await first.flush()
            #expect(storage(file).cookies?.map { $0.name + $0.value }.sorted() == ["arenewed", "bv"])
        }

        @Test("an expiry date that is not a number does not keep other cookies from being written")
        func dateThatIsNoNumber() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("c.sqlite")
            let first = storage(file)
            first.setCookie(
                try cookie("n", with: [.maximumAge: "", .expires: Date(timeIntervalSince1970: .nan)]))
            first.setCookie(try cookie("a"))
            try await first.flush()
            #expect(first.cookies?.count == 2)
            #expect(storage(file).cookies?.map(\.name) == ["a"])
        }

        @Test("programs and groups have folders of their own")
        func location() {
            let names = ["a", "b", "a/b", "..", ".", "", "../x", "é", "a%2Fb"]
            let files = names.map { StoreLocation.fileName($0) }
            #expect(Set(files).count == names.count - 1, "only . and nothing are the same")
            #expect(files.allSatisfy { !$0.contains("/") && !$0.hasPrefix(".") && !$0.isEmpty })
            let own = StoreLocation.folder(group: nil)
            let group = StoreLocation.folder(group: "g")
            #expect(own != group && group.path.hasSuffix("LoadingKit/Groups/g"))
        }

        @Test("the home folder is that of HOME, else that of the user")
        func home() {
            let known = FileManager.default.homeDirectoryForCurrentUser.path
            let user = known == "/" ? "" : known
            let rows: [(environment: [String: String], home: String)] = [
                (["HOME": "/h"], "/h"), (["HOME": "/h/"], "/h"), ([:], user), (["HOME": ""], user),
                (["HOME": "h"], user), (["XDG_DATA_HOME": "d", "XDG_CACHE_HOME": "", "HOME": "/h"], "/h"),
            ]
            for (environment, home) in rows {
                let folders = [
                    StoreLocation.folder(.data, named: "p", environment),
                    StoreLocation.folder(.cache, named: "p", environment), StoreLocation.stateFolder(environment),
                ]
                let paths = [".local/share/LoadingKit/p", ".cache/LoadingKit/p", ".local/state/loadkit"]
                #expect(folders.map(\.path) == paths.map { "\(home)/\($0)" }, "\(environment)")
            }
            let named = ["HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_CACHE_HOME": "/c/", "XDG_STATE_HOME": "/s"]
            #expect(StoreLocation.folder(.data, named: "p", named).path == "/d/LoadingKit/p")
            #expect(StoreLocation.folder(.cache, named: "p", named).path == "/c/LoadingKit/p")
            #expect(StoreLocation.stateFolder(named).path == "/s/loadkit")
        }
    }
#endif
