import Foundation

/// The variables of an environment that name proxies, as curl reads them. It is the one place where they are read; where they
/// are used they are an input, as a dictionary is.
package struct ProxyEnvironment: Hashable, Sendable {
    /// By their names in lowercase. None is empty.
    package let variables: [String: String]

    private static let names = ["http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"]

    /// A variable in lowercase is read before one in uppercase.
    package init(_ environment: [String: String]) {
        // A web server passes a request's `Proxy` field to its programs as `HTTP_PROXY`: the request must not choose the proxy.
        let isServed = environment["REQUEST_METHOD"] != nil
        var variables: [String: String] = [:]
        for name in Self.names {
            let uppercase = isServed && name == "http_proxy" ? nil : environment[name.uppercased()]
            guard let value = environment[name] ?? uppercase, !value.isEmpty else { continue }
            variables[name] = value
        }
        self.variables = variables
    }

    /// This process's, as they are now.
    package static func ofProgram() -> ProxyEnvironment { ProxyEnvironment(ProcessInfo.processInfo.environment) }
}
