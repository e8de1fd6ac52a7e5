#if CommandLineTool
    import ArgumentParser
    import Foundation
    import LoadingKitInspector

    /// `loadkit inspect`: writes a page that shows a recording.
    struct InspectCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "inspect",
            abstract: "Shows a recording of HTTP traffic (HAR 1.2) in a browser.",
            discussion: """
                The recording may be of LoadingKit, of a browser's developer tools, or of a proxy. The page is one \
                file with all data inside, which needs no network and can be sent to others: look at it before you \
                do, as recordings of browsers have passwords and cookies.

                Without --output the page is a temporary file that its user alone can read. It is opened where there \
                are a display and xdg-open; its path is printed.

                The recording has at most \(RecordingFile.maximumSize >> 20) MiB.
                """)

        @Argument(help: ArgumentHelp("The recording; - for standard input.", valueName: "FILE"))
        var file: String

        @Option(name: .shortAndLong, help: ArgumentHelp("The page's file, which is not opened.", valueName: "FILE"))
        var output: String?

        func run() throws {
            let recording = try RecordingFile(file)
            let page = InspectorPage(name: recording.name, recording: recording.text.bytes)
            let place = try output.map { try PageFile(path: $0, unlike: recording) } ?? PageFile.temporary()
            try place.write(page.bytes)
            let count = recording.text.entryCount
            let path = URL(fileURLWithPath: place.path).standardizedFileURL.path
            StandardOutput.write("\(count) request\(count == 1 ? "" : "s"): \(PlainText.line(path))\n")
            if output == nil { DesktopOpener().open(path) }
        }
    }
#endif
