import LoadingKitPrimitives

/// The environment variables that name proxies, interpreted as curl does. They are read only here; elsewhere they are
/// an input, like a dictionary.
package struct ProxyEnvironment: Hashable, Sendable {
    /// By their names in lower case. No value is empty.
    package let variables: [String: String]

    private static let names = ["http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"]

    /// A variable in lower case takes precedence over one in upper case. An empty one counts as not set.
    ///
    /// - Parameter variable: Returns a variable's value.
    private init(_ variable: (String) -> String?) {
        // A web server passes a request's `Proxy` field to its programs as `HTTP_PROXY`. The request must not choose
        // the proxy.
        let isServed = variable("REQUEST_METHOD") != nil
        var variables: [String: String] = [:]
        for name in Self.names {
            let spellings = isServed && name == "http_proxy" ? [name] : [name, name.uppercased()]
            variables[name] = spellings.compactMap(variable).first { !$0.isEmpty }
        }
        self.variables = variables
    }

    package init(_ environment: [String: String]) { self.init { environment[$0] } }

    package static func ofProgram() -> ProxyEnvironment { ProxyEnvironment(ProcessEnvironment.value(of:)) }
}
