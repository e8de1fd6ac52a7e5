#if CommandLineTool
    import Foundation

    /// The arguments of a run, in the form in which the parser takes them: one-letter options are separated as by curl
    /// (`-sXPOST` is `-s -X POST`), the options of files (`-K`) are in their place, and `--url` is gone.
    struct Arguments {
        /// Options that set one list, whose elements keep the order of different options. The value gets the name.
        static let sharedNames: [String: String] = {
            let families = [
                "data": ["data", "data-ascii", "data-raw", "data-binary", "data-urlencode", "json"],
                "form": ["form", "form-string"],
            ]
            return Dictionary(
                uniqueKeysWithValues: families.flatMap { family in family.value.map { ($0, family.key) } })
        }()

        /// The arguments of each request: `--next` begins another.
        private(set) var requests: [[String]] = [[]]
        private let readFile: (String) throws -> Data
        /// A file may name others, and must not name itself.
        private var depth = 0
        private static let maximumDepth = 8

        init(_ arguments: [String], readFile: @escaping (String) throws -> Data = InputFile.read) throws {
            self.readFile = readFile
            try add(arguments[...])
        }

        private mutating func add(_ arguments: ArraySlice<String>) throws {
            var rest = arguments
            while let argument = rest.popFirst() {
                if argument == "--" { return requests[requests.count - 1] += [argument] + rest }
                guard argument.hasPrefix("-"), argument != "-" else {
                    append(argument)
                    continue
                }
                for option in Self.split(argument) {
                    guard OptionNames.all.hasValue(option.name) else {
                        addFlag(option.name)
                        continue
                    }
                    guard let value = option.value ?? rest.popFirst() else {
                        append(option.name)
                        continue
                    }
                    try addOption(option.name, value)
                }
            }
        }

        private mutating func append(_ words: String...) { requests[requests.count - 1] += words }

        private mutating func addFlag(_ name: String) {
            if OptionNames.all.long(name) == "next" { requests.append([]) } else { append(name) }
        }

        private mutating func addOption(_ name: String, _ value: String) throws {
            let long = OptionNames.all.long(name)
            if long == "config" { return try readConfiguration(value) }
            if long == "url" { return append(value) }
            guard let family = Self.sharedNames[long] else { return append(name, value) }
            append("--\(family)", "\(long) \(value)")
        }

        private mutating func readConfiguration(_ path: String) throws {
            guard depth < Self.maximumDepth else { throw ToolFailure(.usage, "-K: files name each other too deeply") }
            guard let content = try? readFile(path) else {
                throw ToolFailure(.readError, "the options of \(path) cannot be read")
            }
            depth += 1
            defer { depth -= 1 }
            try add(ConfigurationFile.arguments(in: String(decoding: content, as: UTF8.self), of: path)[...])
        }

        /// An option, with the value that is in the same argument.
        struct Option {
            var name: String
            var value: String?
        }

        /// The options of an argument that begins with a dash.
        static func split(_ argument: String) -> [Option] {
            guard !argument.hasPrefix("--") else {
                guard let (name, _, value) = argument.cut(at: "="), OptionNames.all.hasValue(name) else {
                    return [Option(name: argument)]
                }
                return [Option(name: name, value: value)]
            }
            var options: [Option] = []
            var letters = argument.unicodeScalars.dropFirst()
            while let letter = letters.popFirst() {
                options.append(Option(name: "-\(letter)"))
                guard OptionNames.all.hasValue("-\(letter)") else { continue }
                if !letters.isEmpty { options[options.count - 1].value = String(letters) }
                break
            }
            return options
        }
    }

    /// The names of the options with a value, and the long names of letters. The parser knows them, but not fast; a test
    /// compares.
    struct OptionNames {
        static let all = OptionNames()

        private static let withValue = """
            output=o output-dir continue-at=C dump-header=D write-out=w trace-ascii timing-json har color request=X header=H url-query user-agent=A \
            referer=e range=r data=d data-ascii data-raw data-binary data-urlencode json form=F form-string upload-file=T user=u \
            oauth2-bearer aws-sigv4 netrc-file cookie=b cookie-jar=c max-redirs max-time=m connect-timeout max-filesize limit-rate \
            retry retry-delay retry-max-time jobs=j parallel-max proxy=x proxy-user=U noproxy socks5 socks5-hostname socks4 \
            socks4a unix-socket hsts resolve connect-to interface cacert cert=E cert-type key pass pinnedpubkey ciphers tls13-ciphers tls-max url config=K
            """

        private let longNames: [String: String]

        private init() {
            var names = ["-:": "next"]
            for pair in Self.withValue.split(separator: " ") {
                let parts = pair.split(separator: "=").map(String.init)
                names["--\(parts[0])"] = parts[0]
                if parts.count > 1 { names["-\(parts[1])"] = parts[0] }
            }
            longNames = names
        }

        /// - Parameter name: with its dashes.
        func hasValue(_ name: String) -> Bool { name != "-:" && longNames[name] != nil }

        /// The name without dashes; the long one of a letter.
        func long(_ name: String) -> String { longNames[name] ?? String(name.drop { $0 == "-" }) }
    }
#endif
