#if CommandLineTool
    import ArgumentParser

    /// `loadkit URL…`: loads URLs, and writes their contents. Arguments are parsed after ``Arguments`` has expanded them.
    struct LoadCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "load",
            abstract: "Loads URLs of every scheme, and writes their bodies to standard output.",
            usage: """
                loadkit [options] URL ...
                loadkit schemes [URL]
                loadkit inspect FILE.har
                loadkit inspect -- PROGRAM
                loadkit new-handler NAME
                loadkit adopt [FOLDER]
                loadkit demo
                """,
            discussion: """
                Options have curl's names and meanings. Redirects are followed, compressed bodies are decoded, and a load \
                ends after five minutes without a byte.

                On a terminal JSON and XML are laid out and coloured, control characters are shown as escapes, and binary \
                bodies are refused; files and pipes get the bytes unchanged. A ws: or wss: URL sends the lines of standard \
                input, and writes the received messages.

                `loadkit schemes` lists what can be loaded; `loadkit inspect` shows a recording, or a program's traffic, in a \
                browser; \
                `loadkit new-handler` writes a package with a handler for a scheme of your own; `loadkit demo` loads over \
                every scheme from servers of its own, without a network.

                Errors go to standard error in one line, with curl's exit codes; with several URLs, the code is that of \
                the last failure.
                """)

        @Argument(help: ArgumentHelp("What to load. Without a scheme, http:// is assumed.", valueName: "URL"))
        var urls: [String] = []

        @OptionGroup(title: "Output") var output: OutputOptions
        @OptionGroup(title: "Display") var display: DisplayOptions
        @OptionGroup(title: "The request") var request: RequestOptions
        @OptionGroup(title: "The request's body") var body: BodyOptions
        @OptionGroup(title: "Login and cookies") var login: LoginOptions
        @OptionGroup(title: "The transfer") var transfer: TransferOptions
        @OptionGroup(title: "The connection") var connection: ConnectionOptions
        @OptionGroup(title: "TLS") var tls: TLSOptions
        @OptionGroup(title: "Arguments") var arguments: ArgumentOptions

        func run() async throws { try await Self.run([self]) }

        /// Runs the loads of requests that `--next` separates, one request after the other.
        static func run(_ requests: [LoadCommand]) async throws {
            let plans = try requests.map { try LoadPlan($0) }
            guard plans.reduce(0, { $0 + $1.inputCount }) <= 1 else {
                throw ToolFailure(.usage, "standard input is for one load only: a ws: URL, or -T - with one URL")
            }
            // Open until the end, so that all requests are recorded in one file.
            let recordings = try plans.compactMap(\.display.recordingFile).map(LoadRunner.openRecording)
            defer { withExtendedLifetime(recordings) {} }
            let page = plans.contains(where: \.display.showsPage) ? try TransferPage() : nil
            var status = ToolStatus.success
            for plan in plans {
                let result = await LoadRunner(plan: plan, console: .standardError).run()
                if result != .success { status = result }
            }
            await page?.waitForInterruption()
            if status != .success { throw ExitCode(status.rawValue) }
        }
    }
#endif
