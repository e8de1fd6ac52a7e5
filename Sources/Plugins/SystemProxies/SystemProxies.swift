import Foundation
import LoadingKit

/// The proxies of the system: those of the desktop's settings, of the environment, and of scripts (PAC), by libproxy.
///
/// ```swift
/// configuration.proxyResolver = SystemProxies()
/// ```
///
/// Each question is answered by a process of its own, libproxy's command `proxy`, which is ended when its time is over:
/// libproxy runs code of the network's, and a thread that runs a script for ever cannot be ended. A session keeps the
/// answers (`URLSessionConfiguration.proxyResolver`), so that there are few of these processes.
public final class SystemProxies: ProxyResolver {
    /// What may be changed.
    public struct Options: Sendable {
        /// How long loading a script may take, and then how long the process may take, in seconds. Default 10, at least
        /// 0.1 and at most an hour.
        public var timeLimit: TimeInterval = 10
        /// A longer script is not used, in bytes. Default 2 MiB.
        public var maximumScriptSize = 2 * 1024 * 1024
        /// How long a script that was loaded by its URL is used before it is loaded anew, in seconds. Default 300.
        public var scriptLifetime: TimeInterval = 300
        /// Whether a script may be used that the local network offers (WPAD), where the desktop's settings say so.
        /// Default false: a server is reached directly then. Everyone in a network can offer one, and so read and
        /// change what goes over cleartext `http`, and see the names of all servers.
        public var allowsAutoDiscovery = false
        /// Where libproxy's command is: the first that is there. Default `/usr/bin/proxy`, `/usr/local/bin/proxy`.
        public var commandPaths = ["/usr/bin/proxy", "/usr/local/bin/proxy"]
        /// The environment by which libproxy finds the settings. Default nil: that of this process at each question.
        public var environment: [String: String]?
        /// Changes the configuration of the session that loads scripts: for example who is trusted to sign its servers'
        /// certificates. That session uses no proxy and no store. Called once for scripts that the program names, and
        /// once for those of the system's settings.
        public var configureScriptSession: (@Sendable (URLSessionConfiguration) -> Void)?

        /// The defaults.
        public init() {}
    }

    private static let mostAttempts = 5
    private let options: Options
    private let scripts: ScriptLoader
    private let scriptsOfSystem: ScriptLoader

    /// Makes a resolver, which starts nothing yet. Several sessions may have the same one.
    public init(_ options: Options = Options()) {
        var options = options
        options.timeLimit = options.timeLimit.isFinite ? min(max(options.timeLimit, 0.1), 3600) : 10
        self.options = options
        scripts = ScriptLoader(options)
        scriptsOfSystem = ScriptLoader(options, isOfSystem: true)
    }

    /// The proxies by the script of the query, or by the system's settings.
    ///
    /// - Throws: ``SystemProxyError``; a `URLError` where a script could not be loaded; `CancellationError`.
    public func proxies(for query: ProxyQuery) async throws -> [ProxyChoice] {
        switch query.script {
        case nil: try await systemProxies(for: query.url)
        case .javaScript(let text): try await proxies(for: query.url, by: text)
        case .url(let url): try await proxies(for: query.url, by: try await scripts.load(url))
        }
    }

    private func proxies(for url: URL, by script: String) async throws -> [ProxyChoice] {
        guard script.utf8.count <= options.maximumScriptSize else {
            throw SystemProxyError.scriptTooLong(maximum: options.maximumScriptSize)
        }
        let program = ScriptProgram(script, for: url)
        let input = try ScriptFile(program.text)
        let output = try await run(
            LibproxyEnvironment.forScript(processEnvironment), argument: "http://server.invalid/", input
        ) { if case .output = $0 { true } else { false } }
        return try ScriptAnswer.choices(try program.answer(in: output))
    }

    private func systemProxies(for url: URL) async throws -> [ProxyChoice] {
        let environment = LibproxyEnvironment.forSettings(processEnvironment)
        let output = try await run(
            environment, argument: url.absoluteString, nil, isEnough: LibproxySettings.isEnough)
        switch try LibproxySettings(output) {
        case .ways(let choices): return choices
        case .script(let script): return try await proxies(for: url, by: try await scriptsOfSystem.load(script))
        case .autoDiscovery: return try await proxiesOfNetwork(for: url)
        }
    }

    /// A network that has no name `wpad` offers no script.
    private func proxiesOfNetwork(for url: URL) async throws -> [ProxyChoice] {
        guard options.allowsAutoDiscovery, let script = URL(string: "http://wpad/wpad.dat") else { return [.direct] }
        let text: String
        do {
            text = try await scriptsOfSystem.load(script)
        } catch let error as URLError where error.code == .cannotFindHost {
            return [.direct]
        }
        return try await proxies(for: url, by: text)
    }

    private var processEnvironment: [String: String] {
        options.environment ?? ProcessInfo.processInfo.environment
    }

    private func run(
        _ environment: [String: String], argument: String, _ input: ScriptFile?,
        isEnough: @escaping @Sendable (CommandProcess.Line) -> Bool
    ) async throws -> CommandOutput {
        guard let path = options.commandPaths.first(where: FileManager.default.isExecutableFile) else {
            throw SystemProxyError.commandNotFound(options.commandPaths)
        }
        var output = CommandOutput()
        // Its threads may crash it, now and then, before it has said anything; or it could not be run at that moment.
        for _ in 0..<Self.mostAttempts {
            let process = CommandProcess(
                [path, argument], environment, input: input?.descriptor, seconds: options.timeLimit, isEnough: isEnough)
            output = try await process.run()
            guard !output.saidEnough else { break }
        }
        withExtendedLifetime(input) {}
        return output
    }
}
