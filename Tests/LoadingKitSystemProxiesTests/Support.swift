import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitSystemProxies
import TestSupport
import Testing

/// The system's programs that the tests need.
enum Libproxy {
    /// - Throws: ``MissingProgram`` where libproxy, or its module for scripts, is not installed.
    static func options(_ environment: [String: String] = [:]) throws -> SystemProxies.Options {
        var options = SystemProxies.Options()
        guard options.commandPaths.contains(where: FileManager.default.isExecutableFile) else {
            throw MissingProgram(
                program: "libproxy's proxy",
                aptPackage: "libproxy-tools libproxy1-plugin-webkit libproxy1-plugin-kconfig")
        }
        options.environment = environment.merging(["PATH": "/usr/local/bin:/usr/bin:/bin"]) { first, _ in first }
        options.timeLimit = 100
        return options
    }

    static func query(_ url: String = "http://h.example:80", _ script: ProxyScript? = nil) throws -> ProxyQuery {
        ProxyQuery(url: try #require(URL(string: url)), script: script)
    }

    /// The routes that a script returns for a server.
    static func run(_ script: String, _ url: String = "http://h.example:80") async throws -> [ProxyChoice] {
        try await SystemProxies(try options()).proxies(for: query(url, .javaScript(script)))
    }
}

func makeSession(_ configure: (URLSessionConfiguration) -> Void) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 300
    configuration.appTransportSecurity.allowsArbitraryLoads = true
    configure(configuration)
    return URLSession(configuration: configuration)
}

extension URLSession {
    func text(_ url: String) async throws -> String {
        let (data, _) = try await data(from: try #require(URL(string: url)))
        return String(decoding: data, as: UTF8.self)
    }
}
