#if CommandLineTool
    import Foundation
    import LoadingKit
    import Logging

    /// The plan that follows from the arguments: the loads, and how they are run and displayed.
    struct LoadPlan {
        /// The output in addition to the body.
        struct Display: Sendable, Hashable {
            /// The response's head precedes the body: `-i`, and `-I`.
            var showsHead = false
            var isVerbose = false
            /// The library's log messages: `-vv`.
            var showsTrace = false
            var showsTiming = false
            var showsErrors = true
            var showsProgress = true
        }

        var loads: [PlannedLoad]
        var display: Display
        var followsRedirects: Bool
        /// Whether a status of 400 or above is a failure.
        var failsOnHTTPError: Bool
        /// The number of simultaneous loads.
        var jobs: Int
        /// Seconds; nil for no limit.
        var maxTime: Double?
        var trust: Trust

        /// The servers that TLS trusts.
        enum Trust: Sendable, Hashable {
            case system
            /// The authorities of a PEM file, as the file's content.
            case authorities(String)
            case everyone
        }

        /// - Parameter readFile: returns a file's content; `-` is standard input.
        /// - Throws: `ToolFailure` for arguments from which no load can be made.
        init(_ options: LoadOptions, readFile: (String) throws -> Data = InputFile.read) throws {
            try Self.check(options)
            let template = try RequestTemplate(options, readFile: readFile)
            let destinations = try Destination.assign(options)
            loads = try zip(options.urls, destinations).map { try PlannedLoad($0, to: $1, template) }
            display = Display(
                showsHead: options.include || options.head, isVerbose: options.verbose > 0,
                showsTrace: options.verbose > 1, showsTiming: options.timing,
                showsErrors: !options.silent || options.showError, showsProgress: !options.silent)
            followsRedirects = !options.noFollow
            failsOnHTTPError = options.fail
            jobs = options.jobs
            maxTime = options.maxTime == 0 ? nil : options.maxTime
            trust = try Self.trust(options, readFile)
        }

        private static func check(_ options: LoadOptions) throws {
            if options.urls.isEmpty { throw ToolFailure(.usage, "there is no URL to load; see loadkit --help") }
            if options.jobs < 1 { throw ToolFailure(.usage, "-j needs a number of at least 1") }
            if let maxTime = options.maxTime, !maxTime.isFinite || maxTime < 0 {
                throw ToolFailure(.usage, "--max-time needs a number of seconds")
            }
            if options.head && !options.data.isEmpty {
                throw ToolFailure(.usage, "-I and -d ask for different methods: use one of them")
            }
            if options.noFollow && options.location {
                throw ToolFailure(.usage, "-L and --no-follow contradict each other: use one of them")
            }
        }

        private static func trust(_ options: LoadOptions, _ readFile: (String) throws -> Data) throws -> Trust {
            if options.insecure { return .everyone }
            guard let path = options.cacert else { return .system }
            guard let content = try? readFile(path) else {
                throw ToolFailure(.badAuthorityFile, "the certificates of \(path) cannot be read")
            }
            let text = String(decoding: content, as: UTF8.self)
            guard text.contains("-----BEGIN CERTIFICATE-----") || text.contains("-----BEGIN TRUSTED CERTIFICATE-----")
            else {
                throw ToolFailure(.badAuthorityFile, "\(path) has no certificate in PEM")
            }
            return .authorities(text)
        }
    }

    /// One URL to load, and the destination of its body.
    struct PlannedLoad: Sendable {
        /// The argument as it was given.
        let argument: String
        let request: URLRequest
        let destination: Destination

        init(_ argument: String, to destination: Destination, _ template: RequestTemplate) throws {
            self.argument = argument
            self.destination = destination
            request = try template.request(for: URLArgument(argument))
        }
    }

    extension LoadPlan {
        /// Seconds without a byte after which a load ends: curl's limit for making a connection.
        private static let idleTimeout: TimeInterval = 300

        /// The settings of the session that runs the loads.
        var configuration: URLSessionConfiguration {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = Self.idleTimeout
            // A URL that is given twice is loaded twice, as in curl.
            configuration.urlCache = nil
            if let maxTime { configuration.timeoutIntervalForResource = maxTime }
            configuration.httpMaximumConnectionsPerHost = max(configuration.httpMaximumConnectionsPerHost, jobs)
            // A user who types a URL has chosen its scheme.
            configuration.appTransportSecurity = AppTransportSecurity(allowsArbitraryLoads: true)
            switch trust {
            case .system: break
            case .authorities(let pem): configuration.tlsTrustRoots = .pem(pem)
            case .everyone: configuration.tlsVerifiesServer = false
            }
            if display.showsTrace {
                configuration.logger = Logger(label: "loadkit", factory: { _ in ConsoleLog(.standardError) })
            }
            return configuration
        }
    }

    /// Reads the files that arguments name.
    enum InputFile {
        /// Returns a file's content; `-` is standard input.
        static func read(_ path: String) throws -> Data {
            path == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data() : try Data(contentsOf: URL(fileURLWithPath: path))
        }
    }
#endif
