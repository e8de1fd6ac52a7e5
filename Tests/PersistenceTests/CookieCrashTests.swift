#if Persistence
    import Foundation
    import LoadingKitCore
    import TestSupport
    import Testing

    @testable import LoadingKitPersistence

    /// A process is killed while it stores cookies, again and again over one file.
    @Suite("Cookies and crashes")
    struct CookieCrashTests {
        /// Steps that the process takes before it waits for an acknowledgement.
        private static let mostOnTheirWay = 50

        @Test("nothing acknowledged is lost, nothing half-written is served")
        func killed() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("Cookies.sqlite")
            var generator = SeededGenerator(seed: 7)
            var state: [String: String] = [:]
            var next = 1
            for round in 0..<40 {
                let acknowledgements = Int.random(in: 1...25, using: &generator)
                let start = next
                let last = try await onThread {
                    try Self.store(in: file, from: start, until: acknowledgements)
                }
                #expect(last >= next)
                let cookies = HTTPCookieStorage(persistence: CookieDatabase(url: file)).cookies ?? []
                let kept = Dictionary(uniqueKeysWithValues: cookies.map { ($0.name, $0.value) })
                for number in next...max(next, last) { Self.step(number, &state) }
                next = last + 1
                // What was not acknowledged may be there too, but each step wholly, and none before those before it.
                for _ in 0..<Self.mostOnTheirWay where state != kept {
                    Self.step(next, &state)
                    next += 1
                }
                try #require(state == kept, "round \(round), \(last) acknowledged")
            }
        }

        /// What the process does in a step.
        private static func step(_ number: Int, _ state: inout [String: String]) {
            let value = "\(number)" + String(repeating: "x", count: number % 700)
            state["n\(number % 40)"] = number % 7 == 0 ? nil : value
        }

        /// Kills the process right after so many acknowledgements; gives the number of the last step acknowledged.
        private static func store(in file: URL, from start: Int, until count: Int) throws -> Int {
            let pipe = Pipe()
            let process = try ChildProcess(
                try executable().path, [file.path, String(start)],
                streams: .init(output: pipe.fileHandleForWriting.fileDescriptor))
            try pipe.fileHandleForWriting.close()
            var said = Data()
            while said.count(where: { $0 == UInt8(ascii: "\n") }) < count {
                let more = pipe.fileHandleForReading.availableData
                if more.isEmpty { break }
                said += more
            }
            process.kill()
            said += try pipe.fileHandleForReading.readToEnd() ?? Data()
            let lines = String(decoding: said, as: UTF8.self).split(separator: "\n")
            return lines.compactMap { Int($0) }.max() ?? -1
        }

        /// It is built beside the tests.
        private static func executable() throws -> URL {
            let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("StoreWriter")
        }
    }
#endif
