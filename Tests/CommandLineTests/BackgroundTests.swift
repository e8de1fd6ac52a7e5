import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitTransfers
import TestSupport
import Testing

@testable import loadkit

@Suite struct BackgroundTests {
    // MARK: Names

    @Test func aTransferIsNamedByANumberOrASessionAndANumber() throws {
        #expect(try TransferName("7") == TransferName(session: "loadkit", number: 7))
        #expect(try TransferName("org.example/a/7") == TransferName(session: "org.example/a", number: 7))
        #expect(try TransferName("/7") == TransferName(session: "", number: 7))
        for text in ["", "a", "a/", "a/b", "-1", "1.5", "7/"] {
            #expect(throws: ToolFailure.self) { try TransferName(text) }
        }
        for name in [TransferName(session: "loadkit", number: 1), TransferName(session: "a/2", number: 3)] {
            #expect(try TransferName(name.description) == name)
        }
    }

    // MARK: The table

    private static func overview(
        _ number: Int, _ stage: TransferRecord.Stage, received: Int64 = 0, of expected: Int64 = -1,
        destination: String? = nil, error: String? = nil
    ) throws -> TransferRecord {
        let url = try #require(URL(string: "https://example.org/file-\(number)"))
        let request = try #require(TransferRequest(URLRequest(url: url)))
        var transfer = TransferRecord(identifier: number, kind: .download, request: request)
        (transfer.destination, transfer.created, transfer.stage) = (destination, Date(timeIntervalSince1970: 0), stage)
        transfer.status = TransferStatus(error: error.map { TransferError(.timedOut, $0) })
        transfer.status.progress.received = received
        transfer.status.progress.expectedToReceive = expected
        return transfer
    }

    private static func sessions() throws -> [SessionOverview] {
        [
            SessionOverview(
                identifier: "loadkit", program: "/usr/bin/loadkit", isAttached: false,
                transfers: [
                    try overview(1, .running, received: 500_000, of: 1_000_000, destination: "/home/a/file"),
                    try overview(2, .queued),
                ]),
            SessionOverview(
                identifier: "org.example.reader\u{1b}[31m", program: "/usr/bin/reader", isAttached: true,
                transfers: [try overview(12, .backingOff, received: 1234, error: "The request\ntimed out.")]),
        ]
    }

    @Test func theTableHasALineForEachTransfer() throws {
        let text = TransferTable(try Self.sessions()).text(width: 120)
        #expect(
            text == """
                TRANSFER                         STATE                DONE    SIZE  WHAT
                1                                running              50 %  1.0 MB  https://example.org/file-1 → /home/a/file
                2                                queued                  -     0 B  https://example.org/file-2
                org.example.reader\\u001b[31m/12  waits to try again      -  1.2 kB  https://example.org/file-12: The request timed out.

                """)
    }

    @Test func linesAreNoWiderThanTheTerminal() throws {
        let lines = TransferTable(try Self.sessions()).text(width: 79).split(separator: "\n")
        #expect(lines.count == 4)
        for line in lines { #expect(line.count <= 79) }
        #expect(TransferTable([]).text(width: 79) == "No background transfers.\n")
        for width in [0, 1, 10, 30, 40, 60] {
            let lines = TransferTable(try Self.sessions()).text(width: width).split(
                separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == 5)
            for line in lines { #expect(line.count <= width) }
        }
        // Long names and states leave room for a part of the resource.
        let long = SessionOverview(
            identifier: String(repeating: "s", count: 80), program: "/p", isAttached: false,
            transfers: [try Self.overview(1, .waitingForProgram)])
        let line = TransferTable([long]).text(width: 79).split(separator: "\n").last
        #expect(line?.count == 79 && line?.contains("https:") == true)
    }

    @Test func linesAreNoMoreThanTheTerminalHas() throws {
        let sessions = [
            SessionOverview(
                identifier: "loadkit", program: "/p", isAttached: false,
                transfers: try (1...10).map { try Self.overview($0, .queued) })
        ]
        for height in [11, 100] {
            #expect(TransferTable(sessions).text(width: 79, height: height).count { $0 == "\n" } == 11)
        }
        let some = TransferTable(sessions).text(width: 79, height: 10).split(separator: "\n")
        #expect(some.count == 10 && some.last == "and 2 more")
        #expect(TransferTable(sessions).text(width: 79, height: 0).split(separator: "\n").last == "and 10 more")
    }

    /// Each picture begins at the line where the previous one began.
    @Test func picturesReplaceEachOther() {
        var picture = TerminalPicture()
        #expect(picture.replace(by: "a\nb\n") == "\u{1b}[?7la\nb\n\u{1b}[?7h")
        #expect(picture.replace(by: "c\n") == "\r\u{1b}[2A\u{1b}[J\u{1b}[?7lc\n\u{1b}[?7h")
        #expect(picture.replace(by: "").hasPrefix("\r\u{1b}[1A"))
    }

    @Test func sharesAreRoundedDown() throws {
        #expect(TransferAmount(try Self.overview(1, .running, received: 999, of: 1000)).percent == 99)
        #expect(TransferAmount(try Self.overview(1, .running, received: 1000, of: 1000)).percent == 100)
        #expect(TransferAmount(try Self.overview(1, .running, received: 2000, of: 1000)).percent == 100)
        #expect(TransferAmount(try Self.overview(1, .running, received: .max, of: 1)).percent == 100)
        #expect(TransferAmount(try Self.overview(1, .running, received: .min, of: 1)).percent == 0)
        #expect(TransferAmount(try Self.overview(1, .running, received: 10, of: 0)).percent == nil)
    }

    @Test func theListIsJSON() throws {
        let json = TransferList(try Self.sessions()).json
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: [[String: Any]]]
        let transfers = try #require(object?["transfers"])
        #expect(transfers.count == 3)
        #expect(transfers[0]["transfer"] as? String == "1")
        #expect(transfers[0]["received"] as? Int == 500_000)
        #expect(transfers[0]["destination"] as? String == "/home/a/file")
        #expect(transfers[1]["expectedToReceive"] == nil)
        #expect(transfers[2]["state"] as? String == "backingOff")
        #expect(transfers[2]["error"] as? String == "The request\ntimed out.")
        #expect(json.count { $0 == "\n" } == 1)
    }

    // MARK: Downloads

    @Test func aDownloadGoesToAFileThatIsNotThere() throws {
        let folder = try TemporaryFolder()
        let addition = try AddedDownload("example.org/a/b.zip", output: nil, folder: folder.path)
        #expect(addition.request.url == "http://example.org/a/b.zip")
        #expect(addition.destination == folder.path + "/b.zip")
        #expect(addition.transfer(5).destination == addition.destination)
        let named = try AddedDownload("https://example.org/", output: "x", folder: folder.path)
        #expect(named.destination == folder.path + "/x")
        try folder.write("", to: "b.zip")
        for (url, output) in [
            ("https://example.org/b.zip", nil), ("https://example.org/", nil), ("https://example.org/a", "gone/a"),
            ("ftp://example.org/a", nil), ("", nil),
            // Names that lead to another folder, or that no file has.
            ("https://h/a%2F..%2F..%2Fx", nil), ("https://h/%2Ftmp%2Fx", nil), ("https://h/%2Fx", nil),
            ("https://h/%2e%2e", nil), ("https://h/a%00b", nil),
        ] {
            #expect(throws: ToolFailure.self) { try AddedDownload(url, output: output, folder: folder.path) }
        }
    }

    // MARK: Units

    @Test func unitsNameTheDaemonAndTheSocket() throws {
        let units = UnitFiles(daemon: "/opt/a b/load%kit$d\"")
        #expect(units.service.contains(#"ExecStart="/opt/a b/load%%kit$d\"""# + "\n"))
        #expect(units.service.contains("Requires=loadkitd.socket\n"))
        #expect(units.socket.contains("ListenStream=%t/loadkit/daemon.socket\n"))
        #expect(units.socket.contains("DirectoryMode=0700\n"))
    }

    @Test func unitsAreWrittenAndRemoved() throws {
        let home = try TemporaryFolder()
        let folder = UnitFolder(["HOME": home.path])
        #expect(folder.path == home.path + "/.config/systemd/user")
        #expect(UnitFolder(["HOME": "/x", "XDG_CONFIG_HOME": "/y"]).path == "/y/systemd/user")
        #expect(UnitFolder([:]).path == HomeFolder.path([:]) + "/.config/systemd/user")
        #expect(try folder.remove() == false)
        for _ in 0..<2 { try folder.write(UnitFiles(daemon: "/bin/loadkitd")) }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "loadkitd.service", "loadkitd.socket",
            ])
        #expect(try folder.remove())
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    // MARK: The tool

    #if CommandLineTool
        /// Otherwise each path of the tool had numbers of its own, of which the commands take the first.
        @Test func theToolsSessionIsTheSameByEachPath() throws {
            #expect(try AddTransferCommand.session.program == "loadkit")
        }
    #endif

    @Test func theToolAddsListsAndCancels() async throws {
        try await withTimeout {
            let run = try DaemonOfTool()
            let added = try await run.tool(["background", "add", "http://localhost:1/a", "-o", "a"])
            #expect(added.status == 0)
            #expect(added.text == "1  \(run.folder.path)/a\n")
            #expect(try await run.tool(["background", "add", "http://localhost:1/b"]).text.hasPrefix("2  "))
            let list = try await run.tool(["background"])
            #expect(list.text.split(separator: "\n").count == 3)
            #expect(list.text.contains("http://localhost:1/a → "))
            #expect(try await run.tool(["background", "cancel", "1"]).status == 0)
            let json = try await run.tool(["background", "list", "--json"]).text
            #expect(json.contains(#""transfer":"2""#) && !json.contains(#""transfer":"1""#))
            let failed = try await run.tool(["background", "cancel", "1"])
            #expect(failed.status != 0)
            #expect(failed.errors.contains("There is no such transfer."))
            #expect(try await run.tool(["background", "log"]).text.contains("serves"))
        }
    }

    @Test(.enabled(if: PseudoTerminal.isAvailable, PseudoTerminal.missing))
    func theListIsShownAnewUntilItIsInterrupted() async throws {
        let run = try DaemonOfTool()
        #expect(try await run.tool(["background", "add", "http://localhost:1/a"]).status == 0)
        let terminal = try PseudoTerminal()
        terminal.setSize(columns: 40, lines: 4)
        let process = try ChildProcess(
            try ProgramRun.executable("loadkit"), ["background", "list", "--watch"],
            environment: try run.environment, streams: .init(output: terminal.far.fileDescriptor))
        let first = try await onThread { try terminal.read(until: "\u{1b}[?7h") }
        // The file's name is at the end of a line, which is shortened in the middle.
        #expect(first.hasPrefix("\u{1b}[?7l") && first.contains("TRANSFER"))
        for line in first.split(whereSeparator: \.isNewline) {
            #expect(line.replacing("\u{1b}[?7l", with: "").count < 40)
        }
        for number in 1...5 {
            #expect(try await run.tool(["background", "add", "http://localhost:1/\(number)"]).status == 0)
        }
        let next = try await onThread { try terminal.read(until: "and 5 more") }
        #expect(next.contains("\r\u{1b}[2A\u{1b}[J\u{1b}[?7lTRANSFER"))
        process.interrupt()
        #expect(try await onThread { process.waitForExit() } == 128 + SIGINT)
    }

    @Test func theListOfAPipeEndsWithItsReader() async throws {
        let run = try DaemonOfTool()
        let pipe = Pipe()
        let process = try ChildProcess(
            try ProgramRun.executable("loadkit"), ["background", "list", "--watch", "--json"],
            environment: try run.environment, streams: .init(output: pipe.fileHandleForWriting.fileDescriptor))
        try pipe.fileHandleForWriting.close()
        let shown = try await onThread {
            var bytes = [UInt8](repeating: 0, count: 4096)
            return read(pipe.fileHandleForReading.fileDescriptor, &bytes, bytes.count)
        }
        #expect(shown > 0)
        try pipe.fileHandleForReading.close()
        #expect(try await onThread { process.waitForExit() } == 0)
    }

    @Test func aListThatCannotBeWrittenFails() async throws {
        let run = try DaemonOfTool()
        let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
        let list = try await ToolRun(
            ["background", "list", "--json"], folder: run.folder, standardOutput: full, environment: run.environment)
        #expect(list.status == 23 && list.errors.contains("No space left on device"), "\(list.errors)")
    }

    @Test func theToolSaysThatThereIsNoDaemon() async throws {
        let environment = ["LOADKITD": "/there/is/none", "XDG_RUNTIME_DIR": "/there/is/none"]
        let run = try await ToolRun(["background"], environment: environment)
        #expect(run.status == 7)
        #expect(run.errors.contains("XDG_RUNTIME_DIR names no folder"))
    }

    @Test func theToolInstallsUnits() async throws {
        let run = try DaemonOfTool()
        // The second time the files exist; the third time they have been removed.
        for round in 1...3 {
            let installed = try await run.tool(["background", "install"], ["PATH": "/nowhere"])
            #expect(installed.status == 0)
            #expect(installed.errors.contains("  systemctl --user daemon-reload\n"))
            let unit = try String(
                contentsOf: run.folder.file("config/systemd/user/loadkitd.service"), encoding: .utf8)
            #expect(unit.contains("DaemonProbe"))
            guard round > 1 else { continue }
            #expect(try await run.tool(["background", "uninstall"], ["PATH": "/nowhere"]).status == 0)
            #expect(try await run.tool(["background", "uninstall"], ["PATH": "/nowhere"]).status == 37)
            #expect(try FileManager.default.contentsOfDirectory(atPath: run.folder.path + "/config/systemd/user") == [])
        }
    }

    /// Where `systemctl` is in the path, the tool calls it with these arguments, in this order.
    @Test func theToolTellsSystemd() async throws {
        let run = try DaemonOfTool()
        let script = try run.folder.writeProgram("#!/bin/sh\necho \"$@\" >> \"$0.log\"\n", to: "bin/systemctl")
        let path = ["PATH": script.deletingLastPathComponent().path]
        let installed = try await run.tool(["background", "install"], path)
        #expect(installed.status == 0 && installed.errors.isEmpty)
        #expect(try await run.tool(["background", "uninstall"], path).status == 0)
        let log = try String(contentsOfFile: script.path + ".log", encoding: .utf8)
        #expect(
            log == """
                --user --quiet daemon-reload
                --user --quiet enable loadkitd.service loadkitd.socket
                --user --quiet restart loadkitd.socket loadkitd.service
                --user --quiet disable --now loadkitd.socket loadkitd.service
                --user --quiet daemon-reload

                """)
    }
}

/// Runs the tool with a private daemon, which ends when this object is released.
private final class DaemonOfTool: Sendable {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.file("kept"), withIntermediateDirectories: true)
    }

    deinit {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path + "/kept")) ?? [] {
            guard name.hasPrefix("daemon-"), let process = pid_t(name.dropFirst("daemon-".count)) else { continue }
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")
            if path?.hasSuffix("/DaemonProbe") == true { kill(process, SIGKILL) }
        }
    }

    var environment: [String: String] {
        get throws {
            [
                "XDG_RUNTIME_DIR": folder.path, "XDG_STATE_HOME": folder.path + "/state",
                "XDG_CONFIG_HOME": folder.path + "/config", "DAEMON_PROBE_FOLDER": folder.path + "/kept",
                "LOADKITD": try ProgramRun.executable("DaemonProbe"),
            ]
        }
    }

    func tool(_ arguments: [String], _ other: [String: String] = [:]) async throws -> ToolRun {
        try await ToolRun(arguments, folder: folder, environment: environment.merging(other) { $1 })
    }
}
