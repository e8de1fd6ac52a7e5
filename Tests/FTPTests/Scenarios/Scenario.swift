import Foundation
import LoadingKit
import TestSupport

/// Something that programs do with FTP servers, and what comes of it.
struct Scenario: Sendable {
    let name: String
    /// Whether a server can play its part.
    var isPossible: @Sendable (FTPServerProcess) -> Bool = { _ in true }
    /// Throws where something else comes of it.
    let run: @Sendable (ScenarioRun) async throws -> Void

    static let all: [Scenario] = reading + writing + users + interrupted

    // MARK: Reading

    static let reading = [
        Scenario(name: "file") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let (data, response) = try await session.data(for: run.request("/a.txt"))
            try run.expect(Array(data), ScenarioRun.text)
            try run.expect(response.expectedContentLength, 6, "the expected length")
            try run.expect(response.mimeType, "text/plain", "the type")
            try run.expect(response.suggestedFilename, "a.txt", "the name")
            let time = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Last-Modified")
            try run.expect(time != nil, "Last-Modified is missing")
        },
        Scenario(name: "size and time alone") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let (data, response) = try await session.data(for: run.request("/large.bin", method: "HEAD"))
            try run.expect(data.count, 0)
            try run.expect(response.expectedContentLength, Int64(ScenarioRun.large.count), "the expected length")
        },
        Scenario(name: "empty file") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            try run.expect(try await run.load("/empty", in: session), [])
        },
        Scenario(name: "16 MB") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            try run.expect(try await run.load("/large.bin", in: session), ScenarioRun.large)
        },
        Scenario(name: "16 MB to a file") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let (file, _) = try await session.download(for: run.request("/large.bin"))
            defer { try? FileManager.default.removeItem(at: file) }
            try run.expect(Array(try Data(contentsOf: file)), ScenarioRun.large)
        },
        Scenario(name: "a part") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let request = try run.request("/large.bin", fields: ["Range": "bytes=1000000-1000999"])
            let (data, response) = try await session.data(for: request)
            try run.expect(Array(data), Array(ScenarioRun.large[1_000_000..<1_001_000]))
            try run.expect((response as? HTTPURLResponse)?.statusCode, 206, "the status")
            try run.expect(try await run.load("/a.txt", in: session), ScenarioRun.text)
        },
        Scenario(name: ";type=a") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let bytes = try await run.load("/lines.txt;type=a", in: session)
            try run.expect(bytes.filter { $0 != 0x0D }, Array("one\ntwo\n".utf8))
            try run.expect(try await run.load("/lines.txt", in: session), Array("one\ntwo\n".utf8))
        },
        Scenario(name: "folder as HTML") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let (data, response) = try await session.data(for: run.request("/folder/"))
            let page = String(decoding: data, as: UTF8.self)
            try run.expect(response.mimeType, "text/html", "the type")
            for link in [
                "./deeper/", "./gr%C3%B6%C3%9Fe%20%F0%9F%98%80.txt", "./100%25%20of%20a%20file%3B%20%231%3F.txt",
            ] {
                try run.expect(page.contains("href=\"\(link)\""), "\(link) is missing in \(page)")
            }
            try run.expect(!page.contains("<script"), "a name is HTML")
        },
        Scenario(name: "folder as JSON") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let request = try run.request("/folder/", fields: ["Accept": "application/json"])
            let (data, response) = try await session.data(for: request)
            try run.expect(response.mimeType, "application/json", "the type")
            let listing = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            let entries = listing?["entries"] as? [[String: Any]] ?? []
            try run.expect(listing?["unreadableLines"] as? Int, 0, "the number of unreadable lines")
            let names = Set(entries.compactMap { $0["name"] as? String })
            try run.expect(
                names, ["deeper", "größe 😀.txt", "100% of a file; #1?.txt", "<script>&\"'.txt"], "the names")
            let file = entries.first { $0["name"] as? String == "größe 😀.txt" }
            try run.expect(file?["size"] as? Int, 6, "the size")
            try run.expect((file?["modified"] as? String)?.hasPrefix("20") == true, "the time is missing")
            let folder = entries.first { $0["name"] as? String == "deeper" }
            try run.expect(folder?["type"] as? String, "directory", "the folder's type")
        },
        Scenario(name: "a large folder") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let (data, _) = try await session.data(for: run.request("/many/", fields: ["Accept": "application/json"]))
            let listing = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            try run.expect((listing?["entries"] as? [Any])?.count, ScenarioRun.smallFileCount, "the number of entries")
        },
        Scenario(name: "an empty folder") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let (data, _) = try await session.data(
                for: run.request("/folder/deeper/none/", method: "MKCOL"))
            try run.expect(data.count, 0)
            let request = try run.request("/folder/deeper/none/", fields: ["Accept": "application/json"])
            let listing = try await session.data(for: request).0
            try FileManager.default.removeItem(at: run.server.folder.appendingPathComponent("folder/deeper/none"))
            try run.expect(String(decoding: listing, as: UTF8.self), "{\"entries\":[],\n\"unreadableLines\":0}\n")
        },
        Scenario(name: "UTF-8 name") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            try run.expect(
                try await run.load("/folder/gr%C3%B6%C3%9Fe%20%F0%9F%98%80.txt", in: session), ScenarioRun.text)
        },
        Scenario(name: "name with spaces and %") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            try run.expect(
                try await run.load("/folder/100%25%20of%20a%20file%3B%20%231%3F.txt", in: session), ScenarioRun.text)
        },
        Scenario(name: "no such file") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let code = try await run.code { _ = try await run.load("/none.txt", in: session) }
            try run.expect(code, .fileDoesNotExist, "the error")
            try run.expect(try await run.load("/a.txt", in: session), ScenarioRun.text)
        },
        Scenario(name: "no such folder") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let code = try await run.code { _ = try await run.load("/none/", in: session) }
            try run.expect(code, .fileDoesNotExist, "the error")
            try run.expect(try await run.load("/a.txt", in: session), ScenarioRun.text)
        },
        Scenario(name: "no permission") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let code = try await run.code { _ = try await run.load(run.lockedPath, in: session) }
            try run.expect(code, .noPermissionsToReadFile, "the error")
            try run.expect(try await run.load("/a.txt", in: session), ScenarioRun.text)
        },
        Scenario(name: "1,000 small files") { run in
            let session = run.makeSession { $0.httpMaximumConnectionsPerHost = 4 }
            defer { session.invalidateAndCancel() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<ScenarioRun.smallFileCount {
                    group.addTask {
                        let bytes = try await run.load("/many/\(number).txt", in: session)
                        try run.expect(bytes, Array("\(number)".utf8), "the file \(number)")
                    }
                }
                try await group.waitForAll()
            }
        },
    ]

    // MARK: Writing

    static let writing = [
        Scenario(name: "upload of data") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let request = try run.request("/written/data.bin", method: "PUT")
            _ = try await session.upload(for: request, from: Data(ScenarioRun.large))
            try run.expect(try run.stored("written/data.bin"), ScenarioRun.large)
            // A second one takes the place of the first.
            _ = try await session.upload(for: request, from: Data(ScenarioRun.text))
            try run.expect(try run.stored("written/data.bin"), ScenarioRun.text)
        },
        Scenario(name: "upload of a file, of nothing") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let folder = try TemporaryFolder()
            for (name, bytes) in [("some", ScenarioRun.text), ("none", [])] {
                let file = try folder.write(bytes, to: name)
                _ = try await session.upload(
                    for: run.request("/written/file \(name)".replacing(" ", with: "%20"), method: "PUT"), fromFile: file
                )
                try run.expect(try run.stored("written/file \(name)"), bytes)
            }
        },
        Scenario(name: "append") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            _ = try await session.upload(for: run.request("/log.txt", method: "APPE"), from: Data("more\n".utf8))
            try run.expect(try run.stored("log.txt"), ScenarioRun.text + Array("more\n".utf8))
        },
        Scenario(name: "folders made on the way") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let request = try run.request("/written/x/y%20z/f", method: "PUT", fields: ["FTP-Folders": "make"])
            for _ in 0..<2 { _ = try await session.upload(for: request, from: Data(ScenarioRun.text)) }
            try run.expect(try run.stored("written/x/y z/f"), ScenarioRun.text)
            let code = try await run.code {
                _ = try await session.upload(
                    for: run.request("/written/n/f", method: "PUT"), from: Data(ScenarioRun.text))
            }
            try run.expect([.cannotCreateFile, .fileDoesNotExist, .noPermissionsToReadFile].contains(code), "\(code)")
        },
    ]

    // MARK: Users

    static let users = [
        Scenario(name: "wrong password") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let request = try run.request("/a.txt", credential: "\(run.server.user):wrong")
            let code = try await run.code { _ = try await session.data(for: request) }
            try run.expect(code, .userAuthenticationRequired, "the error")
            // The right one has a connection of its own, and the wrong one still has none.
            try run.expect(try await run.load("/a.txt", in: session), ScenarioRun.text)
            let again = try await run.code { _ = try await session.data(for: request) }
            try run.expect(again, .userAuthenticationRequired, "the error after a load with the right one")
        },
        Scenario(name: "credential of the storage") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            run.keepCredential(in: session)
            let (data, _) = try await session.data(for: run.request("/a.txt", credential: ""))
            try run.expect(Array(data), ScenarioRun.text)
        },
        Scenario(name: "challenge") { run in
            let answer = Answering(user: run.server.user, passwords: ["wrong", run.server.password])
            let session = run.makeSession(delegate: answer)
            defer { session.invalidateAndCancel() }
            for _ in 0..<2 {
                let (data, _) = try await session.data(for: run.request("/a.txt", credential: "nobody:none"))
                try run.expect(Array(data), ScenarioRun.text)
                answer.reset()
            }
            try run.expect(
                answer.spaces.value.allSatisfy { $0 == "ftp localhost" }, "the spaces: \(answer.spaces.value)")
            answer.cancels.value = true
            let code = try await run.code {
                _ = try await session.data(for: run.request("/a.txt", credential: "no:no"))
            }
            try run.expect(code, .userCancelledAuthentication, "the error of a cancelled challenge")
        },
        Scenario(name: "two users in one session", isPossible: { $0.program != .vsftpd }) { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let (other, password) = run.server.otherUser
            for _ in 0..<5 {
                try run.expect(try await run.load("/who.txt", in: session), Array("alice".utf8))
                let (data, _) = try await session.data(for: run.request("/who.txt", credential: "\(other):\(password)"))
                try run.expect(Array(data), Array("bob".utf8))
            }
        },
    ]
}
