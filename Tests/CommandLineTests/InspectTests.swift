import Foundation
import TestSupport
import Testing

@testable import loadkit

/// `loadkit inspect`: the recordings that it accepts, and the page. `Scripts/inspector.py` checks what the page does in
/// a browser.
@Suite(.timeLimit(.minutes(5))) struct InspectTests {
    // MARK: Recordings

    /// Texts, and the number of entries.
    static let recordings: [(text: String, count: Int)] = [
        (#"{"log":{"entries":[]}}"#, 0), (#"{"log":{"entries":[{},{"a":[1,[2],{}]} , 3]}}"#, 3),
        ("\u{FEFF} {\r\n\t\"x\": [ ] , \"log\" : {\"a\":{\"entries\":[1]},\"entries\" : [ {} ] } } \n", 1),
        (#"{"log":{"entries":[1,2],"entries":[3]}}"#, 1),
        (#"{"log":{"entries":[[]],"x":{"entries":[1,2]}},"entries":[1,2]}"#, 1),
        (#"{"log":{"entries":[1e999999999,-0.0,12345678901234567890123456789,1E+2]}}"#, 4),
        (#"{"log":{"entries":["\u2028\ud800\"\\\/\b\f\n\r\t","</script><!--",true,false,null]}}"#, 5),
        ("{\"log\":{\"entries\":[\"\u{2028}\u{2029}\u{7F}\"]}}", 1),
        (#"{"log":{"entries":[\#(nested(HARText.maximumDepth - 3))]}}"#, 1),
    ]

    @Test(arguments: recordings) func recording(_ text: String, _ count: Int) throws {
        #expect(try HARText(Array(text.utf8)).entryCount == count)
    }

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    /// Texts that are no recordings, and a part of the reason.
    static let others: [(text: String, reason: String)] = [
        ("", "line 1, byte 1: this is no JSON: a value is missing"),
        ("{", "line 1, byte 2: this is no JSON: a member's name"),
        ("[]", "there is no list log.entries"), ("{}", "no list log.entries"), ("7", "no list log.entries"),
        (#"{"log":[]}"#, "no list log.entries"), (#"{"log":{"entries":{}}}"#, "no list log.entries"),
        (#"{"log":{"entries":[1],"entries":2}}"#, "no list log.entries"),
        (#"{"log":{"entries":[1]},"log":{}}"#, "no list log.entries"),
        (#"{"log":[{"entries":[]}]}"#, "no list log.entries"),
        (#"{"log":{"entries":[]}} x"#, "byte 24: this is no JSON: the end of the file"),
        ("{\"log\":{\n\"entries\":[1,]}}", "line 2, byte 14"), ("{\"log\":{\n\"entries\":[,1]}}", "line 2, byte 12"),
        (#"{"log":{"entries":[1 2]}}"#, "a comma or the end of the list"),
        (#"{"log":{"entries":[1],}}"#, "a member's name"),
        (#"{"log":{"entries":[}}}"#, "a value"), (#"{"log" {}}"#, "a colon"),
        (#"{"log":{"entries":["a]}}"#, "the end of a string"),
        ("{\"log\":{\"entries\":[\"a\n\"]}}", "without control characters"),
        ("{\"a\":\"\u{0}\"}", "without control characters"),
        (#"{"a":"\x"}"#, "an escape"), (#"{"a":"\u12g4"}"#, "an escape"), (#"{"a":"\u12"#, "an escape"),
        (#"{"a":"\"#, "an escape"),
        (#"{"a":01}"#, "a comma"), (#"{"a":+1}"#, "a value"), (#"{"a":1.}"#, "a value"), (#"{"a":1e}"#, "a value"),
        (#"{"a":NaN}"#, "a value"),
        (#"{"a":tru}"#, "a value"), ("{'a':1}", "a member's name"), ("<html>", "a value"),
        (nested(HARText.maximumDepth + 1), "more than 500"),
        (String(repeating: "[", count: 1_000_000), "more than 500"),
        (String(repeating: "{\"a\":", count: 100_000), "more than 500"),
    ]

    @Test(arguments: others) func noRecording(_ text: String, _ reason: String) {
        let error = #expect(throws: HARTextError.self) { try HARText(Array(text.utf8)) }
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    @Test func encodings() {
        let text = #"{"log":{"entries":[]}}"#
        let wide: [UInt8] = text.utf8.flatMap { [$0, 0] }
        let texts: [[UInt8]] = [wide, [0xff, 0xfe] + wide, Array(text.utf8) + [0xc3], [0xef, 0xbb]]
        for bytes in texts {
            let error = #expect(throws: HARTextError.self) { try HARText(bytes) }
            #expect(error?.reason.isEmpty == false)
        }
        // Each part of a recording ends in an error, and not in a trap.
        let whole = Array(#"{"log":{"entries":[{"a":"\u00e9\n","b":[1.5e3,true,null]}]}}"#.utf8)
        for count in 0..<whole.count { #expect(throws: HARTextError.self) { try HARText(Array(whole[..<count])) } }
    }

    // MARK: The program

    private static let recording = #"{"log":{"entries":[{"request":{"url":"</script>"}}]}}"#

    @Test(arguments: ["a.har", "<b>&'\".har", "-a.har", "ü \u{1b}[31m\n.har"]) func output(_ name: String) async throws
    {
        let folder = try TemporaryFolder()
        try folder.write(Self.recording, to: name)
        let run = try await ToolRun(["inspect", "--output", "page.html", "./\(name)"], folder: folder)
        #expect(
            run.status == 0 && run.errors.isEmpty && run.text == "1 request: \(folder.path)/page.html\n",
            "\(run.errors)")
        let html = try String(contentsOf: folder.file("page.html"), encoding: .utf8)
        let names = html.components(separatedBy: "id=\"recording-name\">").dropFirst()
        let text = try #require(names.first?.components(separatedBy: "</script>").first)
        #expect(try JSONDecoder().decode(String.self, from: Data(text.utf8)) == name)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("page.html").path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func standardInput() async throws {
        let folder = try TemporaryFolder()
        let run = try await ToolRun(["inspect", "-", "-o", "page.html"], input: Self.recording, folder: folder)
        #expect(run.status == 0 && run.text.hasPrefix("1 request: "))
        let failed = try await ToolRun(["inspect", "-"], input: "[", folder: folder)
        #expect(failed.status == 26 && failed.errors.contains("standard input: line 1, byte 2"), "\(failed.errors)")
    }

    /// Without --output the page is a file for its user alone. It is opened where there is a display.
    @Test func temporaryFile() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.recording, to: "a.har")
        try folder.writeProgram(
            "#!/bin/sh\nprintf %s \"$1\" >opened.part && mv opened.part opened; echo >done\n", to: "bin/xdg-open")
        try #require(mkfifo(folder.file("done").path, 0o600) == 0)
        let environment = ["PATH": "\(folder.path)/bin:/usr/bin:/bin", "TMPDIR": folder.path, "DISPLAY": ":0"]
        let run = try await ToolRun(["inspect", "a.har"], folder: folder, environment: environment)
        #expect(run.status == 0, "\(run.errors)")
        let path = String(run.text.dropFirst("1 request: ".count).dropLast())
        #expect(path.hasPrefix("\(folder.path)/loadkit-") && path.hasSuffix(".html"))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let done = folder.file("done")
        _ = try await onThread { try FileHandle(forReadingFrom: done).readToEnd() }
        #expect(try String(contentsOf: folder.file("opened"), encoding: .utf8) == path)
    }

    /// A program in the place of `xdg-open`, which tells its argument, and the mode and content of that file.
    private static let openerScript = "#!/bin/sh\n{ echo \"$1\"; stat -c %a \"$1\"; cat \"$1\"; } >opened\n"

    /// The page of the tool's own transfers is opened by a file, too, which is removed in the end.
    @Test func ownTransfers() async throws {
        let folder = try TemporaryFolder()
        try folder.writeProgram(Self.openerScript, to: "bin/xdg-open")
        try #require(mkfifo(folder.file("opened").path, 0o600) == 0)
        let environment = ["PATH": "\(folder.path)/bin:/usr/bin:/bin", "TMPDIR": folder.path, "DISPLAY": ":0"]
        let pipe = Pipe()
        let process = try ChildProcess(
            try ProgramRun.executable("loadkit"), ["--inspect", "data:,x"], folder: folder.path,
            environment: environment, streams: .init(errors: pipe.fileHandleForWriting.fileDescriptor))
        try pipe.fileHandleForWriting.close()
        let (opened, reader) = (folder.file("opened"), pipe.fileHandleForReading)
        let told = try await onThread { try FileHandle(forReadingFrom: opened).readToEnd() ?? Data() }
        let errors = try await onThread {
            var text = ""
            while !text.contains("Ctrl-C"), case let data = reader.availableData, !data.isEmpty {
                text += String(decoding: data, as: UTF8.self)
            }
            return text
        }
        process.interrupt()
        #expect(try await onThread { process.waitForExit() } == 0)
        let lines = String(decoding: told, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(lines.count > 2 && lines[0].hasPrefix("\(folder.path)/loadkit-") && lines[1] == "600", "\(lines)")
        let address = errors.split { " \n".contains($0) }.first { $0.hasPrefix("http://127.0.0.1:") }
        #expect(lines.contains("<a href=\"\(address ?? "-")\">The inspector</a>"), "\(errors)")
        #expect(!(try folder.contents()).contains { $0.hasPrefix("loadkit-") })
    }

    /// A program is run with this one's input, output and status, and what it shows is printed and opened.
    @Test func program() async throws {
        let folder = try TemporaryFolder()
        try folder.writeProgram(Self.openerScript, to: "bin/xdg-open")
        try #require(mkfifo(folder.file("opened").path, 0o600) == 0)
        let script = """
            read -r line; echo "$line $1 $LOADKIT_INSPECT_CHANGES"
            echo 'http://page/?a&token="T' >>"$LOADKIT_INSPECT"; cat opened; exit 7
            """
        let environment = ["PATH": "\(folder.path)/bin:/usr/bin:/bin", "TMPDIR": folder.path, "DISPLAY": ":0"]
        let run = try await ToolRun(
            ["inspect", "--allow-changes", "--", "sh", "-c", script, "sh", "-a"], input: "input\n", folder: folder,
            environment: environment)
        let lines = run.text.split(separator: "\n").map(String.init)
        #expect(run.status == 7 && lines.first == "input -a 1", "\(run.status) \(run.text)")
        // No other user can see the address: neither in the arguments nor in the file.
        #expect(lines.count > 3 && lines[1].hasPrefix("\(folder.path)/loadkit-") && lines[2] == "600", "\(lines)")
        #expect(
            lines.contains(#"<meta http-equiv="refresh" content="0; url=http://page/?a&amp;token=&quot;T">"#),
            "\(lines)")
        #expect(run.errors == "loadkit: the traffic is shown at http://page/?a&token=\"T\n")
        // The pipe's folder is gone.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.contains { $0.hasPrefix("loadkit-") })
        let both = try await ToolRun(["inspect", "a.har", "--", "true"], folder: folder)
        #expect(both.status == 2 && both.errors.contains("a file and a program"))
    }

    /// The program may read from the terminal and gets Ctrl-C, as it is in the same group of processes; SIGTERM is passed
    /// on, and a signal that ends it is told by the status.
    @Test func theProgramsSignals() async throws {
        let folder = try TemporaryFolder()
        let rows: [(script: String, status: Int32, text: String)] = [
            ("[ $(cut -d' ' -f5 /proc/$$/stat) = $(cut -d' ' -f5 /proc/$PPID/stat) ] && echo same", 0, "same\n"),
            ("trap 'kill $!; exit 3' TERM; sleep 100 & kill -TERM $PPID; wait", 3, ""),
            ("kill -KILL $$", 137, ""), ("kill -PIPE $$", 141, ""),
        ]
        for (script, status, text) in rows {
            let run = try await ToolRun(["inspect", "--", "sh", "-c", script], folder: folder)
            #expect(run.status == status && run.text == text && run.errors.isEmpty, "\(script): \(run)")
        }
        // The tool is started with the ends of its children ignored.
        let process = try ChildProcess(
            "/usr/bin/env",
            ["--ignore-signal=CHLD", try ProgramRun.executable("loadkit"), "inspect", "--", "sh", "-c", "exit 7"],
            folder: folder.path)
        #expect(try await onThread { process.waitForExit() } == 7)
        let missing = try await ToolRun(["inspect", "--", "no-such-program"], folder: folder)
        #expect(missing.status == 2 && missing.errors.contains("no-such-program cannot be run: No such file"))
    }

    /// Environments, and whether there is a program that opens the page.
    @Test func opener() throws {
        let folder = try TemporaryFolder()
        let program = try folder.write("", to: "bin/xdg-open").path
        try folder.write("", to: "other/xdg-open")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        let path = "relative:\(folder.path)/other:\(folder.path)/bin"
        let rows: [([String: String], String?)] = [
            (["PATH": path, "DISPLAY": ":0"], program), (["PATH": path, "WAYLAND_DISPLAY": "wayland-0"], program),
            (["PATH": path], nil),
            (["PATH": path, "DISPLAY": ""], nil), (["DISPLAY": ":0"], nil),
            (["PATH": "\(folder.path)/other", "DISPLAY": ":0"], nil),
        ]
        for (environment, expected) in rows {
            #expect(DesktopOpener(environment).program == expected, "\(environment)")
        }
    }

    /// Arguments, the exit status, and a part of the error.
    static let failures: [(arguments: [String], status: Int32, words: String)] = [
        ([], 2, "FILE"), (["missing.har"], 37, "missing.har cannot be read: No such file"),
        (["folder"], 37, "Is a directory"), ([""], 2, "no name"),
        (["text.har"], 26, "text.har: line 1, byte 1: this is no JSON"), (["list.har"], 26, "no list log.entries"),
        (["a.har", "--output", "a.har"], 2, "the recording itself"),
        (["a.har", "--output", "link.har"], 2, "the recording itself"),
        (["a.har", "--output", "none/page.html"], 23, "none/page.html cannot be written"),
        (["a.har", "--output", ""], 2, "no name"),
        (["a.har", "--output", "folder"], 23, "Is a directory"),
    ]

    @Test(arguments: failures) func failure(_ arguments: [String], _ status: Int32, _ words: String) async throws {
        let folder = try TemporaryFolder()
        for (name, text) in [("a.har", Self.recording), ("text.har", "<html>"), ("list.har", "[]"), ("folder/x", "")] {
            try folder.write(text, to: name)
        }
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link.har").path, withDestinationPath: folder.file("a.har").path)
        let run = try await ToolRun(["inspect"] + arguments, folder: folder)
        #expect(run.status == status && run.errors.contains(words) && run.text.isEmpty, "\(run.status) \(run.errors)")
        #expect(run.errors.hasPrefix("loadkit: (\(status)) ") && run.errors.split(separator: "\n").count == 1)
        #expect(try String(contentsOf: folder.file("a.har"), encoding: .utf8) == Self.recording)
    }

    @Test func tooLarge() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.recording, to: "a.har").path
        #expect(try RecordingFile(path, maximumSize: Self.recording.utf8.count).text.entryCount == 1)
        let failure = #expect(throws: ToolFailure.self) {
            try RecordingFile(path, maximumSize: Self.recording.utf8.count - 1)
        }
        #expect(failure?.status == .tooLarge)
        #expect(throws: ToolFailure.self) { try RecordingFile("/dev/zero", maximumSize: 1 << 20) }
    }
}
