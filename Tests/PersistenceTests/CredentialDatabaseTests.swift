#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitTransport
    import TestSupport
    import Testing

    @testable import LoadingKitPersistence

    @Suite("CredentialDatabase")
    struct CredentialDatabaseTests {
        private static let space = URLProtectionSpace(
            host: "h.example", port: 443, protocol: "https", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        private static let proxy = URLProtectionSpace(
            proxyHost: "p.example", port: 8080, type: NSURLProtectionSpaceHTTPProxy, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodHTTPDigest)

        private func permanent(_ user: String, _ password: String = "secret-word") -> URLCredential {
            URLCredential(user: user, password: password, persistence: .permanent)
        }

        private func storage(_ folder: TemporaryFolder, _ log: RecordedLog = RecordedLog()) -> URLCredentialStorage {
            URLCredentialStorage(CredentialDatabase(folder: folder.file("own"), log: log.log))
        }

        private func flush(_ storage: URLCredentialStorage) async {
            await withCheckedContinuation { done in storage.flush { done.resume() } }
        }

        @Test("permanent credentials and defaults are there again, and no others")
        func roundTrip() async throws {
            let folder = try TemporaryFolder()
            let first = storage(folder)
            first.set(permanent("é", ""), for: Self.space)
            first.setDefaultCredential(permanent("b"), for: Self.space)
            first.setDefaultCredential(permanent("a"), for: Self.space)
            first.set(URLCredential(user: "p", password: "q", persistence: .synchronizable), for: Self.proxy)
            first.set(URLCredential(user: "s", password: "q", persistence: .forSession), for: Self.space)
            await flush(first)
            let second = storage(folder)
            #expect(
                second.credentials(for: Self.space) == [
                    "é": permanent("é", ""), "a": permanent("a"), "b": permanent("b"),
                ])
            #expect(second.credentials(for: Self.proxy)?["p"]?.persistence == .synchronizable)
            #expect(second.defaultCredential(for: Self.space)?.user == "a")
            second.remove(permanent("a"), for: Self.space)
            second.set(permanent("b", "new"), for: Self.space)
            await flush(second)
            let third = storage(folder)
            #expect(third.credentials(for: Self.space)?.keys.sorted() == ["b", "é"])
            #expect(third.credentials(for: Self.space)?["b"]?.password == "new")
            #expect(third.defaultCredential(for: Self.space) == nil)
            third.removeAll()
            await flush(third)
            #expect(storage(folder).allCredentials.isEmpty)
        }

        private final class MovedSpace: URLProtectionSpace, @unchecked Sendable {  // as its superclass
            override var host: String { "other.example" }
            override var realm: String? { "other" }
        }

        @Test("a subclass's space is stored by what it was made with, as it is compared in memory")
        func spacesOfSubclasses() async throws {
            let folder = try TemporaryFolder()
            let first = storage(folder)
            let moved = MovedSpace(
                host: "h.example", port: 443, protocol: "https", realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            first.set(permanent("a"), for: moved)
            #expect(first.credentials(for: Self.space) == ["a": permanent("a")])
            await flush(first)
            #expect(storage(folder).credentials(for: Self.space) == ["a": permanent("a")])
        }

        @Test("what another process changes is there after a reload, and the session's credentials are kept")
        func changesOfOthers() async throws {
            let folder = try TemporaryFolder()
            let own = storage(folder)
            let session = URLCredential(user: "s", password: "q", persistence: .forSession)
            own.set(session, for: Self.space)
            own.set(permanent("a"), for: Self.space)
            own.set(permanent("b"), for: Self.proxy)
            own.reload()
            await flush(own)
            own.reload()
            #expect(
                own.allCredentials == [
                    Self.space: ["s": session, "a": permanent("a")], Self.proxy: ["b": permanent("b")],
                ])
            let other = storage(folder)
            other.remove(permanent("b"), for: Self.proxy)
            other.set(permanent("a", "new"), for: Self.space)
            await flush(other)
            own.reload()
            #expect(own.allCredentials == [Self.space: ["s": session, "a": permanent("a", "new")]])
            #expect(own.defaultCredential(for: Self.space) == session)
        }

        @Test("what another process has stored is removed")
        func removalOfOthers() async throws {
            let folder = try TemporaryFolder()
            let own = storage(folder)
            own.remove(permanent("a"), for: Self.space)
            await flush(own)
            #expect(try folder.contents().isEmpty, "nothing is made for nothing")
            let other = storage(folder)
            for user in ["a", "b"] { other.set(permanent(user), for: Self.space) }
            await flush(other)
            own.remove(permanent("a"), for: Self.space)
            await flush(own)
            #expect(storage(folder).credentials(for: Self.space)?.keys.sorted() == ["b"])
            own.remove(permanent("b"), for: Self.space)
            own.set(permanent("b", "new"), for: Self.space)
            await flush(own)
            #expect(storage(folder).allCredentials == [Self.space: ["b": permanent("b", "new")]])
        }

        @Test("nothing of them can be read in the files, which are their user's alone")
        func secrecy() async throws {
            let folder = try TemporaryFolder()
            let first = storage(folder)
            await flush(first)
            first.removeAll()
            await flush(first)
            #expect(try folder.contents().isEmpty, "nothing is made for nothing")
            first.set(permanent("user-name"), for: Self.space)
            await flush(first)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("own").path).sorted()
            #expect(names.count == 4 && names.first == "Credentials.key")
            for name in names {
                let file = folder.file("own/\(name)")
                let content = try Data(contentsOf: file)
                for word in ["secret-word", "user-name", "h.example"] {
                    #expect(content.range(of: Data(word.utf8)) == nil, "\(word) in \(name)")
                }
                let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? NSNumber
                #expect(mode?.intValue == 0o600, "\(name)")
            }
        }

        @Test(
            "without their key they count as not there, and new ones are kept",
            arguments: [nil, "", "short", String(repeating: "k", count: 64), String(repeating: "k", count: 65)])
        func keys(content: String?) async throws {
            let folder = try TemporaryFolder()
            let first = storage(folder)
            first.set(permanent("old"), for: Self.space)
            await flush(first)
            try FileManager.default.removeItem(at: folder.file("own/Credentials.key"))
            if let content { try folder.write(content, to: "own/Credentials.key") }
            let log = RecordedLog()
            let second = storage(folder, log)
            #expect(second.allCredentials.isEmpty && log.lines.count == 1, "\(log.lines)")
            second.set(permanent("new"), for: Self.space)
            await flush(second)
            #expect(log.lines.count == 1)
            #expect(storage(folder).credentials(for: Self.space)?.keys.sorted() == ["new"])
        }

        @Test("the file of a process that was killed while it made the key is replaced, and no other is left")
        func unfinishedKey() async throws {
            let folder = try TemporaryFolder()
            try FileManager.default.createDirectory(at: folder.file("own"), withIntermediateDirectories: true)
            try folder.write(String(repeating: "k", count: 100), to: "own/Credentials.key.new")
            let first = storage(folder)
            first.set(permanent("a"), for: Self.space)
            await flush(first)
            #expect(storage(folder).credentials(for: Self.space)?.keys.sorted() == ["a"])
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("own").path)
            #expect(names.filter { $0.hasPrefix("Credentials.key") } == ["Credentials.key"])
        }

        @Test("a key is made where the file system has no locks")
        func noLocks() throws {
            let folder = try TemporaryFolder()
            let plan = FaultPlan(.flock, .from(1), .fail(ENOLCK))
            let value = Data("a".utf8)
            let made = try plan.run { try StoreKey.readOrMake(folder.file("Credentials.key")) }
            // It is taken, and released.
            #expect(plan.injectedCount == 2)
            let read = try #require(try StoreKey.read(folder.file("Credentials.key")))
            #expect(try read.identity(of: value) == made.identity(of: value))
        }

        @Test("a credential is removed when the key can be read again")
        func laterRemoval() async throws {
            let folder = try TemporaryFolder()
            let first = storage(folder)
            for user in ["a", "b"] { first.set(permanent(user), for: Self.space) }
            await flush(first)
            let key = folder.file("own").appendingPathComponent("Credentials.key")
            let aside = folder.file("aside")
            try FileManager.default.moveItem(at: key, to: aside)
            // A folder can be opened, and not be read.
            try FileManager.default.createDirectory(at: key, withIntermediateDirectories: false)
            first.remove(permanent("a"), for: Self.space)
            await flush(first)
            try FileManager.default.removeItem(at: key)
            try FileManager.default.moveItem(at: aside, to: key)
            await flush(first)
            #expect(storage(folder).credentials(for: Self.space)?.keys.sorted() == ["b"])
        }

        @Test("several processes keep what each of them changes, with one key")
        func sharing() async throws {
            let folder = try TemporaryFolder()
            let storages = (0..<8).map { _ in storage(folder) }
            await withTaskGroup(of: Void.self) { group in
                for (index, storage) in storages.enumerated() {
                    group.addTask {
                        storage.set(permanent("user\(index)"), for: Self.space)
                        await flush(storage)
                    }
                }
            }
            #expect(storage(folder).credentials(for: Self.space)?.count == 8)
            storages[0].remove(permanent("user0"), for: Self.space)
            await flush(storages[0])
            #expect(storage(folder).credentials(for: Self.space)?.count == 7)
        }

        @Test("rows that were moved or changed are passed over; a damaged file is begun anew")
        func damage() async throws {
            let folder = try TemporaryFolder()
            let first = storage(folder)
            for user in ["a", "b", "c"] { first.set(permanent(user), for: Self.space) }
            await flush(first)
            try SQLiteDatabase(path: folder.file("own/Credentials.sqlite").path, busyTimeout: 5000).use { connection in
                let ids = try connection.rows("SELECT identity FROM credential") { $0.value(0, Data.self) }
                try connection.run("UPDATE credential SET sealed = x'00' WHERE identity = ?", [ids[0]])
                try connection.run(
                    "UPDATE credential SET sealed = (SELECT sealed FROM credential WHERE identity = ?) WHERE identity = ?",
                    [ids[1], ids[2]])
            }
            let log = RecordedLog()
            #expect(storage(folder, log).credentials(for: Self.space)?.count == 1 && log.lines.count == 1)
            for suffix in ["-wal", "-shm"] {
                try? FileManager.default.removeItem(at: folder.file("own/Credentials.sqlite\(suffix)"))
            }
            try folder.write(String(repeating: "no database", count: 1000), to: "own/Credentials.sqlite")
            let later = storage(folder, log)
            #expect(later.allCredentials.isEmpty)
            later.set(permanent("a"), for: Self.space)
            await flush(later)
            #expect(storage(folder).credentials(for: Self.space)?.count == 1)
        }
    }
#endif
