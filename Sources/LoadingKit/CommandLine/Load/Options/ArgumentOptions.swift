#if CommandLineTool
    import ArgumentParser

    /// Options that ``Arguments`` replaces before the others are parsed. They are declared for the help.
    struct ArgumentOptions: ParsableArguments {
        @Option(
            name: .long, parsing: .unconditionalSingleValue,
            help: ArgumentHelp("A URL, as without an option.", valueName: "URL"))
        var url: [String] = []

        @Option(
            name: [.customShort("K"), .long], parsing: .unconditionalSingleValue,
            help: ArgumentHelp("Read options from a file in curl's form; - is standard input.", valueName: "FILE"))
        var config: [String] = []

        @Flag(
            name: [.customShort(":"), .long], help: "The options and URLs after it are a request of their own.")
        var next: Int

        @Flag(
            name: [.customShort("g"), .long],
            help: "Take [] and {} in URLs as they are: [1-3] and {a,b} are not several URLs.")
        var globoff = false

        @Flag(help: .hidden) var accepted: [AcceptedOption] = []
    }

    /// Options of curl's whose effect is the default, or which concern a thing that does not exist here.
    enum AcceptedOption: String, EnumerableFlag {
        case disable, compressed, http2, tcpNodelay, noKeepalive
        case alpn, http09 = "http0.9", disableEprt, disableEpsv, ftpPasv, ftpSkipPasvIp

        static func name(for value: AcceptedOption) -> NameSpecification {
            switch value {
            case .disable: [.customShort("q"), .customLong("disable")]
            case .http2: .customLong("http2")
            case .http09: .customLong("http0.9")
            case .ftpSkipPasvIp: .customLong("ftp-skip-pasv-ip")
            case _: .long
            }
        }
    }
#endif
