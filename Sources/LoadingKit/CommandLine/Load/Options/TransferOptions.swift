#if CommandLineTool
    import ArgumentParser

    /// Redirects, limits, repetitions, and loads at the same time.
    struct TransferOptions: ParsableArguments {
        @Flag(
            name: [.customShort("L"), .customLong("location")],
            help: ArgumentHelp("Follow redirects, which is the default.", visibility: .hidden))
        var location = false

        @Flag(name: .customLong("no-follow"), help: "Do not follow redirects.")
        var noFollow = false

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("The most redirects to follow, up to 20, the default.", valueName: "N"))
        var maxRedirs: Int?

        @Option(
            name: [.customShort("m"), .long], parsing: .unconditional,
            help: ArgumentHelp("How long a load may take at most; 0 is for ever.", valueName: "SECONDS"))
        var maxTime: Double?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("How long it may take until there is a connection.", valueName: "SECONDS"))
        var connectTimeout: Double?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Load no body with more bytes; k, M and G are units.", valueName: "BYTES"))
        var maxFilesize: String?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Load no more bytes each second; k, M and G are units.", valueName: "BYTES"))
        var limitRate: String?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp(
                "Repeat a load so often after a timeout, an unknown name, or 408, 429, 500, 502, 503 or 504.",
                valueName: "N"))
        var retry = 0

        @Flag(name: .long, help: "With --retry, repeat also after every other failure.")
        var retryAllErrors = false

        @Flag(name: .long, help: "With --retry, repeat also when a connection is refused.")
        var retryConnrefused = false

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp(
                "How long to wait before a repetition: 1, 2, 4 … by default, or Retry-After.", valueName: "SECONDS"))
        var retryDelay: Double?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Begin no repetition after this time.", valueName: "SECONDS"))
        var retryMaxTime: Double?

        @Option(
            name: [.customShort("j"), .long, .customLong("parallel-max")], parsing: .unconditional,
            help: ArgumentHelp("How many URLs to load at once. Output stays in order.", valueName: "N"))
        var jobs: Int?

        @Flag(name: [.customShort("Z"), .long], help: "Load 50 URLs at once.")
        var parallel = false
    }
#endif
