#if Persistence
    import Foundation
    import LoadingKit
    import LoadingKitCore
    import TestSupport
    import Testing

    @testable import LoadingKitPersistence

    /// Which programs of a user share cookies, cached responses, credentials and secure hosts.
    @Suite struct SeparateStoresTests {
        /// Copies of one program in several folders, with the folders of one user.
        private struct Programs: Sendable {
            let folder: TemporaryFolder
            let built: URL

            init() throws {
                folder = try TemporaryFolder()
                built = URL(fileURLWithPath: try ProgramRun.executable("StoreProbe"))
            }

            var data: URL { folder.file("data/LoadingKit") }

            func copy(to path: String) throws {
                try folder.copyProgram(built, to: path)
            }

            func link(_ path: String, to program: String) throws {
                let place = folder.file(path)
                try FileManager.default.createDirectory(
                    at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
                try FileManager.default.createSymbolicLink(at: place, withDestinationURL: folder.file(program))
            }

            /// What it prints.
            @discardableResult
            func run(_ program: String, _ arguments: String..., through launcher: String? = nil) async throws -> String
            {
                let path = folder.file(program).path
                let environment = [
                    "XDG_DATA_HOME": folder.file("data").path, "XDG_CACHE_HOME": folder.file("cache").path,
                ]
                let pipe = Pipe()
                let output = pipe.fileHandleForWriting
                let words = (launcher == nil ? [] : [path]) + arguments
                return try await onThread {
                    let process = try ChildProcess(
                        launcher ?? path, words, environment: environment,
                        streams: .init(output: output.fileDescriptor, errors: STDERR_FILENO))
                    try output.close()
                    let said = try pipe.fileHandleForReading.readToEnd() ?? Data()
                    guard process.waitForExit() == 0 else { throw CocoaError(.executableLoad) }
                    return String(decoding: said, as: UTF8.self).trimmingCharacters(in: .newlines)
                }
            }
        }

        private static let nothing = "- - - -"

        @Test func programsOfOneNameInTwoFolders() async throws {
            let programs = try Programs()
            for path in ["one/StoreProbe", "two/StoreProbe"] { try programs.copy(to: path) }
            try await programs.run("one/StoreProbe", "keep", "a")
            #expect(try await programs.run("one/StoreProbe", "show") == "a a a a")
            #expect(try await programs.run("two/StoreProbe", "show") == Self.nothing)
            try await programs.run("two/StoreProbe", "keep", "b")
            #expect(try await programs.run("one/StoreProbe", "show") == "a a a a")
            #expect(try await programs.run("two/StoreProbe", "show") == "b b b b")
            // One that is built anew, and one that is reached by a link, are where they were.
            try FileManager.default.removeItem(at: programs.folder.file("one/StoreProbe"))
            try programs.copy(to: "one/StoreProbe")
            try programs.link("bin/StoreProbe", to: "one/StoreProbe")
            try programs.link("three", to: programs.folder.file("one").lastPathComponent)
            for path in ["one/StoreProbe", "bin/StoreProbe", "three/StoreProbe"] {
                #expect(try await programs.run(path, "show") == "a a a a", "\(path)")
            }
            // By another name it is another program, and in another place.
            try programs.link("bin/other", to: "one/StoreProbe")
            #expect(try await programs.run("bin/other", "show") == Self.nothing)
            try FileManager.default.moveItem(
                at: programs.folder.file("two"), to: programs.folder.file("moved"))
            #expect(try await programs.run("moved/StoreProbe", "show") == Self.nothing)
        }

        /// Wherever Foundation finds an Info.plist, its identifier names the program's stores.
        @Test func programsOfOneBundleIdentifier() async throws {
            let programs = try Programs()
            let plist = """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict>
                <key>CFBundleIdentifier</key><string>org.example.bundle</string>
                </dict></plist>
                """
            let rows = [
                ("one/StoreProbe", "one/Info.plist"), ("two/StoreProbe", "two/Resources/Info.plist"),
                ("three/StoreProbe", "three/Contents/Info.plist"),
                ("four/StoreProbe", "four/Support Files/Info.plist"),
                ("Five.app/Contents/Linux/StoreProbe", "Five.app/Contents/Info.plist"),
                ("Six.app/Resources/Linux/StoreProbe", "Six.app/Resources/Info.plist"),
            ]
            for (program, file) in rows {
                try programs.copy(to: program)
                try programs.folder.write(plist, to: file)
            }
            try await programs.run(rows[0].0, "keep", "a")
            for (program, file) in rows {
                #expect(try await programs.run(program, "show") == "a a a a", "\(file)")
            }
            try programs.copy(to: "other/StoreProbe")
            #expect(try await programs.run("other/StoreProbe", "show") == Self.nothing)
        }

        @Test func whatIsMadeBeforeTheStoresAreHandedOverHasThemAfterwards() async throws {
            let programs = try Programs()
            try programs.copy(to: "one/StoreProbe")
            try await programs.run("one/StoreProbe", "keep", "a")
            #expect(try await programs.run("one/StoreProbe", "early") == "a a a a")
        }

        /// Without memory, so that nothing but the disk can have it.
        @Test func aCacheOnDiskAlone() async throws {
            let programs = try Programs()
            try programs.copy(to: "one/StoreProbe")
            let folder = programs.folder.file("own").path
            #expect(try await programs.run("one/StoreProbe", "alone", folder) == "- kept")
            #expect(try await programs.run("one/StoreProbe", "alone", folder) == "kept kept")
        }

        @Test func programsThatAreStartedThroughTheLinker() async throws {
            let programs = try Programs()
            for path in ["one/StoreProbe", "two/StoreProbe"] { try programs.copy(to: path) }
            let maps = RunningProgram.contents("/proc/self/maps")
            let paths = maps.split(separator: "\n").compactMap { line in line.firstIndex(of: "/").map { line[$0...] } }
            let linker = String(try #require(paths.first { $0.contains("/ld-") }))
            try await programs.run("one/StoreProbe", "keep", "a", through: linker)
            #expect(try await programs.run("one/StoreProbe", "show") == "a a a a")
            #expect(try await programs.run("two/StoreProbe", "show", through: linker) == Self.nothing)
        }

        @Test func programsThatGiveOneName() async throws {
            let programs = try Programs()
            for path in ["one/StoreProbe", "two/Other"] { try programs.copy(to: path) }
            try await programs.run("one/StoreProbe", "keep", "a", "org.example.group")
            #expect(try await programs.run("two/Other", "show", "org.example.group") == "a a a a")
            #expect(try await programs.run("one/StoreProbe", "show") == Self.nothing)
            #expect(try await programs.run("one/StoreProbe", "show", "org.example.another") == Self.nothing)
            try FileManager.default.moveItem(at: programs.folder.file("one"), to: programs.folder.file("moved"))
            #expect(try await programs.run("moved/StoreProbe", "show", "org.example.group") == "a a a a")
        }

        /// What programs of one name kept together before may be another one's: secrets stay where they are, and hosts that
        /// are to be reached by https remain so for all.
        @Test func storesOfFormerVersions() async throws {
            let programs = try Programs()
            for path in ["one/StoreProbe", "two/StoreProbe"] { try programs.copy(to: path) }
            // As a former version has named it.
            try await programs.run("one/StoreProbe", "keep", "a", "former")
            let former = programs.data.appendingPathComponent("StoreProbe")
            try FileManager.default.moveItem(at: programs.data.appendingPathComponent("Groups/former"), to: former)
            let before = try FileManager.default.contentsOfDirectory(atPath: former.path)
            #expect(before.contains("Cookies.sqlite") && before.contains("Credentials.sqlite"))
            async let first = programs.run("one/StoreProbe", "show")
            async let second = programs.run("two/StoreProbe", "show")
            #expect(try await [first, second] == ["- - - a", "- - - a"])
            try await programs.run("one/StoreProbe", "keep", "b")
            #expect(try await programs.run("one/StoreProbe", "show") == "b b b a+b")
            #expect(try await programs.run("two/StoreProbe", "show") == "- - - a")
            // Nothing of it is gone; a person may have a program take it over by moving it.
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: former.path).filter { $0.hasSuffix(".sqlite") }
                    .sorted()
                    == before.filter { $0.hasSuffix(".sqlite") }.sorted())
            let name = RunningProgram.identifier(
                name: "StoreProbe", path: programs.folder.file("two/StoreProbe").resolvingSymlinksInPath().path)
            let own = programs.data.appendingPathComponent(name)
            try? FileManager.default.removeItem(at: own)
            try FileManager.default.moveItem(at: former, to: own)
            #expect(try await programs.run("two/StoreProbe", "show") == "a - a a")
        }

        @Test func aConfigurationsStores() {
            let configuration = URLSessionConfiguration.ephemeral
            let own = configuration.httpCookieStorage
            configuration.storeIdentifier = nil
            #expect(configuration.httpCookieStorage === own)
            configuration.storeIdentifier = "org.example.tests"
            let other = URLSessionConfiguration.default
            other.storeIdentifier = "org.example.tests"
            #expect(other.storeIdentifier == "org.example.tests")
            #expect(
                configuration.httpCookieStorage === other.httpCookieStorage && configuration.httpCookieStorage !== own)
            #expect(
                other.httpCookieStorage
                    === HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "org.example.tests"))
            #expect(configuration.urlCache === other.urlCache && other.urlCache !== URLCache.shared)
            #expect(configuration.urlCredentialStorage === other.urlCredentialStorage)
            #expect(other.urlCredentialStorage !== URLCredentialStorage.shared)
            other.storeIdentifier = nil
            #expect(other.httpCookieStorage === HTTPCookieStorage.shared && other.urlCache === URLCache.shared)
            #expect(other.urlCredentialStorage === URLCredentialStorage.shared)
        }

        @Test func whereAProgramIs() {
            let maps = """
                55d0c9a00000-55d0c9a2c000 r--p 00000000 fd:01 1234                       /opt/a program/tool
                55d0c9a2c000-55d0c9b00000 r-xp 0002c000 fd:01 1234                       /opt/a program/tool
                55d0c9b00000-55d0c9c00000 r-xp 0002c000 fd:01 1234                       /opt/tool (deleted)
                7f0000000000-7f0000001000 rw-p 00000000 00:00 0
                7ffc00000000-7ffc00001000 rw-p 00000000 00:00 0                          [stack]
                malformed
                """
            let cases: [(UInt, String?)] = [
                (0x55d0_c9a2_c000, "/opt/a program/tool"), (0x55d0_c9a0_0000, "/opt/a program/tool"),
                (0x55d0_c9b0_0001, "/opt/tool"), (0x7f00_0000_0000, nil), (0x7ffc_0000_0000, nil), (0, nil),
            ]
            for (address, path) in cases { #expect(RunningProgram.file(at: address, inMaps: maps) == path) }
            // As `printf %s PATH | sha256sum` begins.
            #expect(RunningProgram.identifier(name: "tool", path: "/opt/tool") == "tool-\(Self.hash)")
        }

        private static let hash = "e2c555d601bd25c7"
    }
#endif
