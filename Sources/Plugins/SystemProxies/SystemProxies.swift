import Foundation
import LoadingKit

/// The proxies of the system, determined by libproxy: from the desktop's settings, the environment, and scripts (PAC).
///
/// ```swift
/// configuration.proxyResolver = SystemProxies()
/// ```
///
/// A separate process, libproxy's command `proxy`, answers each query, and is ended when its time is over: libproxy
/// runs code from the network, and a thread with an endless script cannot be ended. A session keeps the results
/// (`URLSessionConfiguration.proxyResolver`), so that there are few of these processes.
public final class SystemProxies: ProxyResolver {
    /// The options of a resolver.
    public struct Options: Sendable {
        /// The time limit for loading a script, and then for the process, in seconds. Default 10, at least 0.1 and at
        /// most an hour.
        public var timeLimit: TimeInterval = 10
        /// The largest size of a script in bytes; a longer one is not used. Default 2 MiB.
        public var maximumScriptSize = 2 * 1024 * 1024
        /// The time for which a script that was loaded by its URL is used before it is loaded again, in seconds. The
        /// script that the local network offers is loaded for each query. Default 300.
        public var scriptLifetime: TimeInterval = 300
        /// Whether a script that the local network offers (WPAD) may be used, where the desktop's settings require it.
        /// Default false: a server is then reached directly. Everyone in a network can offer such a script. They could
        /// read and change data over cleartext `http`, and see the names of all servers.
        public var allowsAutoDiscovery = false
        /// The paths of libproxy's command: the first that exists is used. Default `/usr/bin/proxy`,
        /// `/usr/local/bin/proxy`.
        public var commandPaths = ["/usr/bin/proxy", "/usr/local/bin/proxy"]
        /// The environment in which libproxy finds the settings. Default nil: this process's environment at each query.
        public var environment: [String: String]?
        /// Changes the configuration of the session that loads scripts: for example the trusted authorities of its
        /// servers' certificates. That session uses no proxy and no store. Called once for scripts that the program
        /// names, and once for those of the system's settings.
        public var configureScriptSession: (@Sendable (URLSessionConfiguration) -> Void)?

        /// Makes the default options.
        public init() {}
    }

    private static let mostAttempts = 5
    private let options: Options
    private let scripts: ScriptLoader
    private let scriptsOfSystem: ScriptLoader

    /// Makes a resolver, which starts nothing yet. Several sessions may share it.
    public init(_ options: Options = Options()) {
        var options = options
        options.timeLimit = options.timeLimit.isFinite ? min(max(options.timeLimit, 0.1), 3600) : 10
        self.options = options
        scripts = ScriptLoader(options)
        scriptsOfSystem = ScriptLoader(options, isOfSystem: true)
    }

    /// Determines the proxies by the script of the query, or by the system's settings.
    ///
    /// - Throws: ``SystemProxyError``; a `URLError` where a script could not be loaded, without the user and password of
    ///   the script's URL; `CancellationError`.
    public func proxies(for query: ProxyQuery) async throws -> [ProxyChoice] {
        do {
            switch query.script {
            case nil: return try await systemProxies(for: query.url)
            case .javaScript(let text): return try await proxies(for: query.url, by: text)
            case .url(let url): return try await proxies(for: query.url, by: try await scripts.load(url))
            }
        } catch let error as SystemProxyError {
            throw error.withoutUsers
        } catch let error as URLError {
            throw error.withoutUsers
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
        case .routes(let choices): return choices
        case .script(let script): return try await proxies(for: url, by: try await scriptsOfSystem.load(script))
        case .autoDiscovery: return try await proxiesOfNetwork(for: url)
        }
    }

    /// A network without the name `wpad` offers no script.
    private func proxiesOfNetwork(for url: URL) async throws -> [ProxyChoice] {
        guard options.allowsAutoDiscovery, let script = URL(string: "http://wpad/wpad.dat") else { return [.direct] }
        let text: String
        do {
            text = try await scriptsOfSystem.loadUncached(script)
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
        // The command's threads occasionally crash it before its first output; or it could not be run at that moment.
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
