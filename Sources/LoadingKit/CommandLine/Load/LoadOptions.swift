#if CommandLineTool
    import ArgumentParser

    /// The options of a load, with curl's names and meanings.
    struct LoadOptions: ParsableArguments {
        @Argument(help: ArgumentHelp("What to load. Without a scheme, http:// is assumed.", valueName: "URL"))
        var urls: [String] = []

        // MARK: Output

        @Option(
            name: [.customShort("o"), .long], parsing: .unconditionalSingleValue,
            help: ArgumentHelp("Write the body to a file; - is standard output. Once for each URL.", valueName: "FILE"))
        var output: [String] = []

        @Flag(name: [.customShort("O"), .long], help: "Write each body to a file named like the URL's last component.")
        var remoteName = false

        @Flag(name: [.customShort("i"), .long], help: "Write the response's head before the body.")
        var include = false

        @Flag(
            name: [.customShort("f"), .long], help: "End with code 22, and no body, when a server answers 400 or above."
        )
        var fail = false

        @Flag(
            name: [.short, .long],
            help: "Show the request, the response, the connection and TLS; twice, HTTP/2's frames, too.")
        var verbose: Int

        @Flag(help: "Show a waterfall of where the time went.")
        var timing = false

        @Flag(name: [.short, .long], help: "Show no errors and no progress.")
        var silent = false

        @Flag(name: [.customShort("S"), .long], help: "Show errors, also with -s.")
        var showError = false

        // MARK: The request

        @Flag(name: [.customShort("I"), .long], help: "Ask for the head alone (HEAD), and write it.")
        var head = false

        @Option(
            name: [.customShort("X"), .customLong("request")], parsing: .unconditional,
            help: ArgumentHelp("The request's method.", valueName: "METHOD"))
        var method: String?

        @Option(
            name: [.customShort("H"), .long], parsing: .unconditionalSingleValue,
            help: ArgumentHelp(
                "Send a field. 'Name:' sends none, 'Name;' an empty one. May be repeated.", valueName: "'NAME: VALUE'"))
        var header: [String] = []

        @Option(
            name: [.customShort("d"), .long], parsing: .unconditionalSingleValue,
            help: ArgumentHelp(
                "Send a form with POST. @FILE is a file's content, @- standard input's. Repeated, joined with &.",
                valueName: "DATA"))
        var data: [String] = []

        @Option(
            name: [.customShort("A"), .long], parsing: .unconditional,
            help: ArgumentHelp("What to send as User-Agent.", valueName: "NAME"))
        var userAgent: String?

        @Option(
            name: [.customShort("u"), .long], parsing: .unconditional,
            help: ArgumentHelp("Name and password for the server (Basic).", valueName: "NAME:PASSWORD"))
        var user: String?

        // MARK: The transfer

        @Flag(
            name: [.customShort("L"), .customLong("location")],
            help: ArgumentHelp("Follow redirects, which is the default.", visibility: .hidden))
        var location = false

        @Flag(name: .customLong("no-follow"), help: "Do not follow redirects.")
        var noFollow = false

        @Option(
            name: [.customShort("m"), .long], parsing: .unconditional,
            help: ArgumentHelp("How long a load may take at most; 0 is for ever.", valueName: "SECONDS"))
        var maxTime: Double?

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("Trust the certificate authorities of this PEM file alone.", valueName: "FILE"))
        var cacert: String?

        @Flag(name: [.customShort("k"), .long], help: "Do not verify the server's certificate.")
        var insecure = false

        @Option(
            name: [.customShort("j"), .long], parsing: .unconditional,
            help: ArgumentHelp("How many URLs to load at once. Output stays in order.", valueName: "N"))
        var jobs = 1
    }

    /// Expands one-letter options as curl does: `-sXPOST` is `-s -X POST`, and `-da=1` is `-d a=1`.
    enum ShortOptions {
        /// The letters with a value, and the option names that mean the same.
        private static let withValue: [Character: String] = [
            "o": "output", "X": "request", "H": "header", "d": "data", "A": "user-agent", "u": "user", "m": "max-time",
            "j": "jobs",
        ]
        private static let longWithValue = Set(withValue.values.map { "--\($0)" } + ["--cacert"])

        static func expanded(_ arguments: [String]) -> [String] {
            var expanded: [String] = []
            var rest = arguments[...]
            while let argument = rest.popFirst() {
                if argument == "--" { return expanded + [argument] + rest }
                let words = split(argument)
                expanded += words
                // The next word is a value, regardless of its form.
                if needsValue(words), let value = rest.popFirst() { expanded.append(value) }
            }
            return expanded
        }

        private static func split(_ argument: String) -> [String] {
            guard argument.hasPrefix("-"), !argument.hasPrefix("--"), argument.count > 2 else { return [argument] }
            var words: [String] = []
            var letters = argument.dropFirst()
            while let letter = letters.popFirst() {
                words.append("-\(letter)")
                guard withValue[letter] != nil else { continue }
                return letters.isEmpty ? words : words + [String(letters)]
            }
            return words
        }

        private static func needsValue(_ words: [String]) -> Bool {
            guard let last = words.last else { return false }
            if longWithValue.contains(last) { return true }
            guard last.count == 2, last.hasPrefix("-"), let letter = last.last, withValue[letter] != nil else {
                return false
            }
            // In `-d -d` the second is the value of the first.
            return words.count < 2 || words.dropLast().last.map { !needsValue([$0]) } ?? true
        }
    }
#endif
