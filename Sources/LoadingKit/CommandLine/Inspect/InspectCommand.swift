#if CommandLineTool
    import ArgumentParser
    import Foundation
    import LoadingKitInspector

    /// `loadkit inspect`: writes a page that shows a recording, or runs a program that shows its traffic.
    struct InspectCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "inspect",
            abstract: "Shows a recording of HTTP traffic (HAR 1.2), or a program's traffic, in a browser.",
            usage: """
                loadkit inspect FILE [--output FILE]
                loadkit inspect [--allow-changes] -- PROGRAM [ARGUMENT ...]
                """,
            discussion: """
                The recording may be of LoadingKit, of a browser's developer tools, or of a proxy. The page is one \
                file with all data inside, which needs no network and can be sent to others: look at it before you \
                do, as recordings of browsers have passwords and cookies.

                Without --output the page is a temporary file that its user alone can read. It is opened where there \
                are a display and xdg-open; its path is printed.

                The recording has at most \(RecordingFile.maximumSize >> 20) MiB.

                A program that uses LoadingKit is run with this tool's input and output; so are those that it starts. \
                The address of its page, which shows its traffic while it runs, is printed on standard error. The exit \
                status is the program's.
                """)

        @Argument(help: ArgumentHelp("The recording; - for standard input.", valueName: "FILE"))
        var file: String?

        @Option(name: .shortAndLong, help: ArgumentHelp("The page's file, which is not opened.", valueName: "FILE"))
        var output: String?

        @Flag(help: "Let requests and responses of the program be held and changed from the page.")
        var allowChanges = false

        @Argument(
            parsing: .postTerminator, help: ArgumentHelp("The program and its arguments.", valueName: "PROGRAM"))
        var program: [String] = []

        func validate() throws {
            guard (file == nil) == program.isEmpty else { return }
            throw ValidationError(
                program.isEmpty
                    ? "Missing expected argument 'FILE', or '--' and a program" : "a file and a program are given")
        }

        func run() throws {
            guard let file else {
                let status = try InspectedProgram(arguments: program, allowsChanges: allowChanges).run()
                if status != 0 { throw ExitCode(status) }
                return
            }
            try show(file)
        }

        private func show(_ file: String) throws {
            let recording = try RecordingFile(file)
            let page = InspectorPage(name: recording.name, recording: recording.text.bytes)
            let place = try output.map { try PageFile(path: $0, unlike: recording) } ?? PageFile.temporary()
            try place.write(page.bytes)
            let count = recording.text.entryCount
            let path = URL(fileURLWithPath: place.path).standardizedFileURL.path
            try StandardOutput.write("\(count) request\(count == 1 ? "" : "s"): \(PlainText.line(path))\n")
            if output == nil { DesktopOpener().open(path) }
        }
    }
#endif
