#if CommandLineTool
    import Foundation
    import LoadingKit
    @_spi(LoadingKitPlugins) import LoadingKitCore
    import Logging

    #if Negotiate
        import LoadingKitNegotiate
    #endif

    /// The plan that follows from the arguments: the loads, and how they are run and displayed.
    struct LoadPlan {
        /// The output in addition to the body.
        struct Display: Sendable, Hashable {
            /// The responses' heads precede the body: `-i`, and `-I`.
            var showsHead = false
            var isVerbose = false
            /// The library's log messages: `-vv`.
            var showsTrace = false
            var showsTiming = false
            var showsErrors = true
            var showsProgress = true
            /// Progress is a bar alone: `-#`.
            var showsProgressBar = false
            var colour = ColourChoice.auto
            /// Whether documents are displayed when they are complete; otherwise as they come: `-N`.
            var laysOut = true
            /// The file that gets all that was sent and received: `--trace-ascii`.
            var traceFile: String?
            /// The file that gets the times of all loads: `--timing-json`.
            var timingFile: String?
            /// The file in which all transfers are recorded: `--har`.
            var recordingFile: String?
            /// Whether a page shows the transfers: `--inspect`.
            var showsPage = false
            /// The file that gets the responses' heads: `-D`.
            var headFile: String?
            /// The text after each load: `-w`.
            var writeOut: String?
        }

        var loads: [PlannedLoad]
        var display: Display
        var rules: TransferRules
        var session: SessionPlan
        var login: LoginPlan
        var cookies: CookiePlan
        var content: RequestContent
        var files: FileRules
        /// The names of fields that are not to be sent, in lower case.
        var omittedFields: Set<String>
        /// The file of `--hsts`.
        var hsts: HSTSFile?
        /// The number of simultaneous loads.
        var jobs: Int
        private let template: RequestTemplate
        private let signature: AWSSignature?

        private static let parallelJobs = 50

        /// - Parameters:
        ///   - readFile: returns a file's content; `-` is standard input.
        ///   - askPassword: returns the password of a user, whom the terminal asks.
        /// - Throws: `ToolFailure` for arguments from which no load can be made.
        init(
            _ options: LoadCommand, readFile: (String) throws -> Data = InputFile.read,
            askPassword: (String) throws -> String = { try PasswordPrompt.ask($0) }
        ) throws {
            try Self.check(options)
            content = try RequestContent(options, readFile: readFile)
            template = try RequestTemplate(options, content, readFile: readFile)
            omittedFields = template.omittedFields
            login = try LoginPlan(options.login, readFile: readFile, askPassword: askPassword)
            files = try FileRules(options.output)
            rules = try TransferRules(options)
            session = try SessionPlan(options, readFile: readFile)
            cookies = try CookiePlan(options.login, readFile: readFile)
            display = try Display(options, readFile: readFile)
            jobs = options.transfer.jobs ?? (options.transfer.parallel ? Self.parallelJobs : 1)
            signature = try AWSSignature(options.login.awsSigv4)
            hsts = options.connection.hsts.map(HSTSFile.init)
            loads = []
            for (argument, destination) in zip(options.urls, try Destination.assign(options)) {
                let urls = options.arguments.globoff ? [URLPattern.URL(text: argument)] : try URLPattern(argument).urls
                for url in urls {
                    let target = try destination.of(url, options.output)
                    loads.append(try PlannedLoad(url.text, to: target, template, login, files, signature))
                    if loads.last?.isConversation == true, content.hasBody {
                        throw ToolFailure(.usage, "-d, -F and -T are not for ws: URLs, which send standard input")
                    }
                }
            }
            if case .stream(path: let path, isPipe: true) = content, loads.count > 1 {
                throw ToolFailure(.usage, "-T \(path) is a pipe, whose bytes are for one load only")
            }
        }

        private static func check(_ options: LoadCommand) throws {
            if options.urls.isEmpty { throw ToolFailure(.usage, "there is no URL to load; see loadkit --help") }
            if let jobs = options.transfer.jobs, jobs < 1 {
                throw ToolFailure(.usage, "-j needs a number of at least 1")
            }
            if options.request.head && !options.body.data.isEmpty && !options.request.get {
                throw ToolFailure(.usage, "-I and -d ask for different methods: use one of them")
            }
            if options.transfer.noFollow && options.transfer.location {
                throw ToolFailure(.usage, "-L and --no-follow contradict each other: use one of them")
            }
            if options.output.fail && options.output.failWithBody {
                throw ToolFailure(.usage, "-f and --fail-with-body contradict each other: use one of them")
            }
        }

        /// A load, planned anew as its turn comes: the loads before it may have written the file that it continues.
        func load(at index: Int) -> PlannedLoad {
            let load = loads[index]
            guard files.start != .beginning else { return load }
            // The same was planned before, so nothing is thrown.
            let planned = try? PlannedLoad(load.argument, to: load.destination, template, login, files, signature)
            return planned ?? load
        }

        /// The number of loads that read standard input while they run.
        var inputCount: Int { loads.count { $0.isConversation || content.isInput } }

        /// The settings of the session that runs the loads.
        var configuration: URLSessionConfiguration {
            let configuration = session.configuration(maximumTime: rules.maximumTime, jobs: jobs)
            configuration.settings.omittedFields = omittedFields
            #if Negotiate
                if login.usesTicket { installNegotiate(in: configuration) }
            #endif
            if let hsts { configuration.settings.hsts = HSTSStore(persistence: hsts) }
            cookies.apply(to: configuration, for: loads.compactMap(\.request.url))
            if display.showsTrace {
                configuration.logger = Logger(label: "loadkit") { _ in
                    MessageLog(.trace) { Console.standardError.write("* \(PlainText.line("\($0.message)"))\n") }
                }
            }
            return configuration
        }
    }

    #if Negotiate
        extension LoadPlan {
            /// A user who types a URL has chosen its server, also without TLS.
            private func installNegotiate(in configuration: URLSessionConfiguration) {
                var negotiate = Negotiate()
                let hosts = loads.compactMap { $0.request.url?.canonicalHost }
                (negotiate.hosts, negotiate.cleartextHosts) = (hosts, hosts)
                negotiate.install(in: configuration)
            }
        }
    #endif

    extension LoadPlan.Display {
        fileprivate init(_ options: LoadCommand, readFile: (String) throws -> Data) throws {
            self.init(
                showsHead: options.output.include || options.request.head, isVerbose: options.display.verbose > 0,
                showsTrace: options.display.verbose > 1, showsTiming: options.display.timing,
                showsErrors: !options.display.silent || options.display.showError,
                showsProgress: !options.display.silent && !options.display.noProgressMeter,
                showsProgressBar: options.display.progressBar, colour: options.display.color,
                laysOut: !options.display.noBuffer,
                traceFile: options.display.traceAscii, timingFile: options.display.timingJson,
                recordingFile: options.display.har, showsPage: options.display.inspect,
                headFile: options.output.dumpHeader,
                writeOut: options.output.writeOut)
            guard let writeOut, writeOut.hasPrefix("@") else { return }
            guard let content = try? readFile(String(writeOut.dropFirst())) else {
                throw ToolFailure(.readError, "the text of \(writeOut.dropFirst()) cannot be read")
            }
            self.writeOut = String(decoding: content, as: UTF8.self)
        }
    }

    /// One URL to load, and the destination of its body.
    struct PlannedLoad: Sendable {
        /// The argument as it was given.
        let argument: String
        /// The request, without a signature.
        let request: URLRequest
        let destination: Destination
        /// The body's byte at which the load begins.
        let offset: Int64
        /// The number of the file's bytes that precede the load's; 0 where the file is written anew.
        let kept: Int64
        /// The credential for the server of the URL; nil where it signs the request, and is never sent.
        let login: Login?
        private let signer: AWSSignature.Signer?

        init(
            _ argument: String, to destination: Destination, _ template: RequestTemplate, _ plan: LoginPlan,
            _ files: FileRules, _ signature: AWSSignature?
        ) throws {
            self.argument = argument
            self.destination = destination
            (offset, kept) = files.start(of: destination)
            let url = try URLArgument(argument)
            let known = plan.login(for: url.url)
            login = signature == nil ? known : nil
            var request = try template.request(for: url, from: offset, login: plan.isBasicAtOnce ? login : nil)
            // The session answers challenges with the user of a URL.
            if signature != nil { request.url = request.url?.withoutCredentials }
            self.request = request
            signer = try signature?.signer(for: request.url, known)
        }

        /// The request of an attempt, signed at its start: servers accept a signature for a few minutes.
        func requestToSend(_ content: RequestContent, at date: Date = Date()) -> URLRequest {
            var request = self.request
            signer?.sign(&request, content, at: date)
            return request
        }

        /// Whether the URL is of a WebSocket.
        var isConversation: Bool {
            ["ws", "wss", "ws+unix", "wss+unix"].contains(request.url?.scheme?.lowercased() ?? "")
        }

        /// Whether the response says that nothing follows the bytes that are there (RFC 9110 §14.4).
        func isComplete(_ response: HTTPURLResponse) -> Bool {
            offset > 0 && response.statusCode == 416
                && response.value(forHTTPHeaderField: "Content-Range")?.hasSuffix("/\(offset)") == true
        }

        /// The name for messages: without a password.
        var label: String { request.url?.withoutPassword ?? argument }
    }
#endif
