#if Persistence
    import Foundation
    import LoadingKitCore
    import TestSupport
    import Testing

    @testable import LoadingKitPersistence

    /// A process is killed while it stores things, again and again over one file or folder.
    @Suite("Crashes")
    struct CrashTests {
        /// Steps that the process takes before it waits for an acknowledgement.
        private static let mostOnTheirWay = 50
        private static let kills = 200

        @Test("of who stores cookies: nothing acknowledged is lost, nothing half-written is served")
        func cookies() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("Cookies.sqlite")
            try await Self.killAgainAndAgain(
                "cookies", file, value: { "\($0)" + String(repeating: "x", count: $0 % 700) }
            ) {
                let cookies = HTTPCookieStorage(persistence: CookieDatabase(url: file)).cookies ?? []
                return Dictionary(uniqueKeysWithValues: cookies.map { ($0.name, $0.value) })
            }
        }

        @Test("of who stores responses: nothing acknowledged is lost, nothing half-written is served")
        func responses() async throws {
            let folder = try TemporaryFolder()
            let place = folder.file("Responses")
            try await Self.killAgainAndAgain(
                "responses", place, value: { "\($0)" + String(repeating: "x", count: $0 * 37 % 9000) }
            ) {
                let store = ResponseDatabase(folder: place)
                var kept: [String: String] = [:]
                for number in 0..<40 {
                    let key = CacheKey(method: "GET", text: "http://h.example/n\(number)")
                    let entries = store.entries(for: key)
                    kept["n\(number)"] = entries.first.map { String(decoding: $0.response.data, as: UTF8.self) }
                    if entries.count > 1 { kept["n\(number)"] = "several" }
                }
                return kept
            }
            // The last that had the folder to itself left no file that no row names.
            let store = ResponseDatabase(folder: place)
            let rows = try #require(try store.rowCount())
            let files = try FileManager.default.contentsOfDirectory(
                atPath: place.appendingPathComponent("Contents").path)
            #expect(files.count == rows)
        }

        @Test("of two processes that share a folder, while a third reads")
        func sharing() async throws {
            let folder = try TemporaryFolder()
            let place = folder.file("Responses")
            let log = RecordedLog()
            let reader = ResponseDatabase(folder: place, log: log.log)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for seed in 1...2 {
                    group.addTask {
                        try await onThread {
                            let writer = try WritingProgram(["responses", place.path])
                            for round in 0..<10 {
                                let last = try writer.killed(
                                    from: round * 1000 + seed, after: 20, delay: 500 * round * seed)
                                #expect(last >= round * 1000 + 20)
                            }
                        }
                    }
                }
                group.addTask {
                    try await onThread {
                        for step in 0..<500 { try Self.expectSound(reader, step % 40) }
                    }
                }
                try await group.waitForAll()
            }
            for number in 0..<40 { try Self.expectSound(reader, number) }
            #expect(log.lines.isEmpty, "\(log.lines)")
            #expect(!ResponseDatabase(folder: place).files.isOff && reader.usage > 0)
        }

        /// What there is under a key is one of the contents that were stored there.
        private static func expectSound(_ store: ResponseDatabase, _ number: Int) throws {
            let entries = store.entries(for: CacheKey(method: "GET", text: "http://h.example/n\(number)"))
            #expect(entries.count <= 1)
            for entry in entries {
                let text = String(decoding: entry.response.data, as: UTF8.self)
                let step = try #require(Int(text.prefix { $0 != "x" }))
                #expect(step % 40 == number && text.count == "\(step)".count + step * 37 % 9000)
            }
        }

        private static func killAgainAndAgain(
            _ kind: String, _ place: URL, value: @escaping @Sendable (Int) -> String,
            kept: @escaping @Sendable () throws -> [String: String]
        ) async throws {
            try await onThread {
                let writer = try WritingProgram([kind, place.path])
                var generator = SeededGenerator(seed: 7)
                var state: [String: String] = [:]
                var next = 1
                func take(_ number: Int) { state["n\(number % 40)"] = number % 7 == 0 ? nil : value(number) }
                for round in 0..<kills {
                    let last = try writer.killed(
                        from: next, after: Int.random(in: 1...12, using: &generator),
                        delay: Int.random(in: 0...3000, using: &generator))
                    #expect(last >= next)
                    let found = try kept()
                    for number in next...max(next, last) { take(number) }
                    next = last + 1
                    // What was not acknowledged may be there too, but each step wholly, and none before those before it.
                    for _ in 0..<mostOnTheirWay where state != found {
                        take(next)
                        next += 1
                    }
                    try #require(state == found, "round \(round), \(last) acknowledged")
                }
            }
        }
    }

    extension ResponseDatabase {
        /// How many responses with a content there are.
        fileprivate func rowCount() throws -> Int? {
            guard usage > 0 else { return 0 }
            return try files.database.read { try ResponseIndex.bodies($0).subtracting([BodyFolder.empty]).count }
        }
    }
#endif
