#if CommandLineTool
    import ArgumentParser

    extension ColourChoice: ExpressibleByArgument {}

    /// Where bodies and heads go.
    struct OutputOptions: ParsableArguments {
        @Option(
            name: [.customShort("o"), .long], parsing: .unconditionalSingleValue,
            help: ArgumentHelp(
                "Write the body to a file; - is standard output, and writes also binary bodies to a terminal. Once for each URL; #1 is what the URL's first [] or {} stands for.",
                valueName: "FILE"))
        var output: [String] = []

        @Flag(
            name: [.customShort("O"), .long, .customLong("remote-name-all")],
            help: "Write each body to a file named like the URL's last component.")
        var remoteName = false

        @Flag(
            name: [.customShort("J"), .long],
            help: "With -O, take the name that the server gives (Content-Disposition).")
        var remoteHeaderName = false

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("The folder of -o's and -O's files.", valueName: "FOLDER"))
        var outputDir: String?

        @Flag(name: .long, help: "Make the folders of -o's files that are missing.")
        var createDirs = false

        @Flag(name: [.customShort("R"), .long], help: "Give a file the time of the response's Last-Modified.")
        var remoteTime = false

        @Option(
            name: [.customShort("C"), .long], parsing: .unconditional,
            help: ArgumentHelp(
                "Load what follows this byte, and append it to the file; - takes the file's length.",
                valueName: "OFFSET"))
        var continueAt: String?

        @Flag(
            name: [.customShort("i"), .long, .customLong("show-headers")],
            help: "Write the responses' heads before the body.")
        var include = false

        @Option(
            name: [.customShort("D"), .long], parsing: .unconditional,
            help: ArgumentHelp("Write the responses' heads to a file; - is standard output.", valueName: "FILE"))
        var dumpHeader: String?

        @Option(
            name: [.customShort("w"), .long], parsing: .unconditional,
            help: ArgumentHelp(
                "Write a text after each load, with %{http_code} and others of curl's variables; @FILE is a file's content.",
                valueName: "TEXT"))
        var writeOut: String?

        @Flag(
            name: [.customShort("f"), .long], help: "End with code 22, and no body, when a server answers 400 or above."
        )
        var fail = false

        @Flag(name: .long, help: "End with code 22 when a server answers 400 or above, and write the body.")
        var failWithBody = false
    }

    /// The displays beside the output.
    struct DisplayOptions: ParsableArguments {
        @Flag(
            name: [.short, .long],
            help:
                "Show the connections and TLS, and the heads that were sent and received; twice, HTTP/2's frames, too.")
        var verbose: Int

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp(
                "Write what -v shows, and the received bodies, to a file; - is standard output.", valueName: "FILE"))
        var traceAscii: String?

        @Flag(help: "Show a waterfall of where the time went, for all loads on one axis.")
        var timing = false

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp(
                "Write the times that --timing shows to a file, as JSON; - is standard output.", valueName: "FILE"))
        var timingJson: String?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp(
                "Record all transfers in a file, which browsers' developer tools open (HAR); secrets are left out.",
                valueName: "FILE"))
        var har: String?

        @Flag(help: "Show the transfers on a page, whose address is printed, until Ctrl-C is pressed.")
        var inspect = false

        @Option(
            name: .long,
            help: ArgumentHelp(
                "Colour heads, JSON, XML and HTML: auto does so on a terminal, always also in a file or pipe, never nowhere.",
                valueName: "WHEN"))
        var color = ColourChoice.auto

        @Flag(
            name: [.customShort("N"), .long],
            help: "Display also JSON, XML and HTML on a terminal as they come, without layout and colours.")
        var noBuffer = false

        @Flag(name: [.short, .long], help: "Show no errors and no progress.")
        var silent = false

        @Flag(name: .long, help: "Show no progress.")
        var noProgressMeter = false

        @Flag(name: [.customShort("#"), .long], help: "Show progress as a bar alone.")
        var progressBar = false

        @Flag(name: [.customShort("S"), .long], help: "Show errors, also with -s.")
        var showError = false
    }
#endif
