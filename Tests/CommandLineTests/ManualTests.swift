import Foundation
import TestSupport
import Testing

@testable import loadkit

/// `loadkit manual` and `loadkit completions`, which are made of the parser's table.
@Suite struct ManualTests {
    static func table() throws -> ToolTable { try ToolTable.current() }

    @Test func table() throws {
        let commands = try Self.table().commands
        let paths = commands.map { $0.path.joined(separator: " ") }
        #expect(paths.starts(with: ["", "load", "schemes"]))
        #expect(paths.contains("background add") && !paths.contains("demo-background") && !paths.contains("help"))
        #expect(commands.allSatisfy { $0.command.options.contains { $0.texts.contains("--help") } })
        #expect(try #require(commands.first).command.options.count > 60)
    }

    /// Every option that the parser knows is in the manual, and each that the help lists is in each shell's completions.
    @Test func everyOption() throws {
        let table = try Self.table()
        let manual = try ManualCommand.text(.loadkit)
        for (path, command) in table.commands {
            for name in (command.options + command.hiddenOptions).flatMap(\.texts) {
                #expect(manual.contains("\\fB\(ManualPage.escaped(name))\\fR"), "\(path) \(name)")
            }
        }
        for shell in CompletionShell.allCases {
            let text = shell.script(table)
            for (path, command) in table.commands {
                for name in command.options.flatMap(\.texts) {
                    let forms = Self.forms(of: name, in: shell)
                    #expect(forms.contains { text.contains($0) }, "\(shell): \(path) \(name)")
                }
            }
        }
    }

    /// The texts by which a script offers an option.
    private static func forms(of name: String, in shell: CompletionShell) -> [String] {
        switch shell {
        case .bash: [" \(name) ", "'\(name) ", " \(name)'"]
        case .zsh: ["[", "=["].map { "'*\(name.replacing(":", with: "\\:"))\($0)" }
        case .fish: name.hasPrefix("--") ? [" -l '\(name.dropFirst(2))'"] : [" -s '\(name.dropFirst())'"]
        }
    }

    @Test func escapes() {
        let rows = [
            ("a-b", "a\\-b"), (".x", "\\&.x"), ("'x'", "\\(aqx\\(aq"), ("a\\b", "a\\eb"), ("{…}", "{\\[u2026]}"),
            ("\u{E9}", "\\[u00E9]"),
        ]
        for (text, expected) in rows { #expect(ManualPage.escaped(text) == expected) }
    }

    /// groff warns of nothing, and shows what was meant.
    @Test(.usesPeers, arguments: ManualCommand.Page.allCases)
    func pages(_ page: ManualCommand.Page) throws {
        let text = try ManualCommand.text(page)
        let warnings = try TestSupport.ToolRun.output(
            of: "groff", ["-man", "-Tutf8", "-ww", "-z"], aptPackage: "groff-base", input: text)
        #expect(warnings == "")
        let shown = try TestSupport.ToolRun.output(
            of: "groff", ["-man", "-Tascii", "-P-c"], aptPackage: "groff-base", input: text,
            environment: ["GROFF_NO_SGR": "1"])
        let plain = shown.replacing(/.\u{8}/, with: "")
        let parts = page == .loadkit ? ["-o, --output FILE", "loadkit background add URL"] : ["daemon.socket"]
        for part in parts + ["NAME", page.rawValue, "0.1.0"] { #expect(plain.contains(part), "\(part)") }
    }

    /// Words before the cursor, and what is offered.
    static let lines: [(words: [String], offers: [String], omits: [String])] = [
        (["back"], ["background"], ["schemes"]), ([""], ["load", "schemes", "manual"], ["demo-background", "list"]),
        (["--ou"], ["--output", "--output-dir"], ["--data"]), (["load", "--ou"], ["--output", "--output-dir"], []),
        (["background", ""], ["add", "list", "install"], ["schemes"]),
        (["background", "list", "--"], ["--watch", "--json"], ["--output"]),
        (["background", "add", "--"], ["--output"], ["--watch"]), (["completions", ""], ["bash", "zsh", "fish"], []),
        (["-s", "back"], [], ["background"]), (["-H", "--"], [], ["--output"]),
        (["-o", "f"], ["file"], ["folder-of-none"]), (["--output", "=", "fi"], ["file"], []),
        (["--output-dir", "f"], ["folder"], ["file"]), (["manual", "loadkit"], ["loadkit", "loadkitd"], []),
        (["insp"], ["inspect"], []), (["inspect", "--"], ["--output"], ["--data"]),
        (["inspect", "f"], ["file"], ["list"]),
    ]

    @Test(arguments: lines) func bash(_ words: [String], _ offers: [String], _ omits: [String]) throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "file")
        try folder.write("", to: "folder/inside")
        let script = """
            \(CompletionShell.bash.script(try Self.table()))
            cd '\(folder.path)'
            COMP_WORDS=(loadkit \(words.map { "'\($0)'" }.joined(separator: " "))); COMP_CWORD=\(words.count)
            COMPREPLY=(); _loadkit; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let output = try TestSupport.ToolRun.output(of: "bash", ["--norc", "-s"], aptPackage: "bash", input: script)
        let offered = Set(output.split(separator: "\n").map(String.init))
        #expect(offered.isSuperset(of: offers) && offered.isDisjoint(with: omits), "\(words): \(offered)")
    }

    /// fish itself decides about files and values that begin with a dash.
    @Test(.usesPeers) func fish() throws {
        let script = CompletionShell.fish.script(try Self.table())
        for (words, offers, omits) in Self.lines
        where Set(words).isDisjoint(with: ["=", "-o", "-H"]) && words != ["inspect", "f"] {
            let line = (["loadkit"] + words).joined(separator: " ")
            let input = "\(script)\ncomplete -C '\(line)'\n"
            let output = try TestSupport.ToolRun.output(
                of: "fish", ["--no-config"], aptPackage: "fish", input: input, environment: ["HOME": "/nonexistent"])
            let offered = Set(output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) })
            let names = offers.filter { !["folder"].contains($0) }
            #expect(offered.isSuperset(of: names) && offered.isDisjoint(with: omits), "\(line): \(offered)")
        }
    }

    @Test(.usesPeers) func zsh() throws {
        let folder = try TemporaryFolder()
        let script = CompletionShell.zsh.script(try Self.table())
        let file = try folder.write(script, to: "_loadkit")
        #expect(try TestSupport.ToolRun.output(of: "zsh", ["-f", "-n", file.path], aptPackage: "zsh") == "")
    }

    @Test func programs() async throws {
        for arguments in [["manual"], ["manual", "loadkitd"], ["completions", "bash"]] {
            let run = try await ProgramRun(arguments)
            #expect(run.status == 0 && run.errors.isEmpty && run.text.count > 500)
        }
        #expect(try await ProgramRun(["completions", "csh"]).status == 2)
    }
}
