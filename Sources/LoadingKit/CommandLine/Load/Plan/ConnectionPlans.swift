#if CommandLineTool
    import Foundation
    import LoadingKit
    import LoadingKitCore
    import LoadingKitTransport

    /// The proxies of a run, in the form of the environment's variables.
    struct ProxyPlan: Sendable {
        private let isOff: Bool
        let variables: [String: String]

        private static let names = ["http_proxy", "https_proxy", "ftp_proxy", "all_proxy"]

        init(
            _ options: ConnectionOptions, environment: [String: String] = ProcessInfo.processInfo.environment
        ) throws {
            let socks = [
                ("socks5", options.socks5), ("socks5h", options.socks5Hostname), ("socks4", options.socks4),
                ("socks4a", options.socks4a),
            ].compactMap { scheme, host in host.map { "\(scheme)://\($0)" } }
            let named = [options.proxy].compactMap { $0 } + socks
            guard named.count <= 1 else { throw ToolFailure(.usage, "more than one proxy is given") }
            isOff = named.first == "" || options.noproxy == "*"
            var variables = environment
            if let proxy = named.first {
                for name in Self.names { (variables[name], variables[name.uppercased()]) = (nil, nil) }
                variables["all_proxy"] = Self.with(options.proxyUser, proxy)
                // The environment's list is for the environment's proxies.
                (variables["no_proxy"], variables["NO_PROXY"]) = (nil, nil)
            } else if let user = options.proxyUser {
                for name in Self.names + Self.names.map({ $0.uppercased() }) {
                    variables[name] = variables[name].map { $0.isEmpty ? "" : Self.with(user, $0) }
                }
            }
            // An empty list replaces the environment's, too.
            if let hosts = options.noproxy { (variables["no_proxy"], variables["NO_PROXY"]) = (hosts, nil) }
            self.variables = variables
        }

        private static func with(_ user: String?, _ proxy: String) -> String {
            let whole = proxy.contains("://") ? proxy : "http://\(proxy)"
            guard let user, let start = whole.range(of: "://")?.upperBound, !whole.contains("@") else { return whole }
            let parts = (user.cut(at: ":").map { [$0.head, $0.tail] } ?? [user]).map {
                $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            }
            return whole[..<start] + parts.joined(separator: ":") + "@" + whole[start...]
        }

        func apply(to configuration: URLSessionConfiguration) {
            if isOff { configuration.connectionProxyDictionary = [:] }
            configuration.settings.proxyEnvironment = ProxyEnvironment(variables)
        }
    }

    /// The value of `--interface`.
    enum InterfaceArgument {
        /// The interface's name, or the address. Looks the name of a host up.
        static func resolve(_ text: String) throws -> String {
            if text.hasPrefix("if!") { return String(text.dropFirst(3)) }
            let isHost = text.hasPrefix("host!")
            let name = isHost ? String(text.dropFirst(5)) : text
            if IPAddress(name) != nil || !isHost && if_nametoindex(name) != 0 { return name }
            guard let address = address(of: name) else {
                throw ToolFailure(.interfaceFailed, "--interface: there is no interface, address or host '\(name)'")
            }
            return address
        }

        private static func address(of host: String) -> String? {
            for family in IPAddress.Family.allCases {
                if case .success(let found) = Resolver.systemLookup(host, family), let first = found.first {
                    return first.description
                }
            }
            return nil
        }
    }

    extension ConnectSubstitution {
        /// The destinations by `--resolve`, `--connect-to`, `-4` and `-6`; nil without these options.
        init?(_ options: ConnectionOptions) throws {
            // The addresses are looked up for the name that --connect-to gives, as in curl.
            let steps = try [
                options.connectTo.map { try Rule(connectTo: $0) }, options.resolve.map { try Rule(resolve: $0) },
            ]
            guard steps.contains(where: { !$0.isEmpty }) || options.family != nil else { return nil }
            let family = options.family
            self.init(
                resolver: family.map { family in
                    Resolver(lookup: { name, asked in
                        guard asked.isOf(family) else { return .failure(.notFound("no address of \(family)")) }
                        return Resolver.systemLookup(name, asked)
                    })
                }
            ) { endpoint in
                guard case .tcp(let host, let port) = endpoint else { return endpoint }
                let (newHost, newPort) = steps.reduce((host, port)) { target, rules in
                    rules.lazy.compactMap { $0.apply(target.0, target.1) }.first ?? target
                }
                // A name that needs no lookup.
                let isLocal = newHost.lowercased() == "localhost"
                return .tcp(
                    host: isLocal && family != nil ? (family == .ipv4 ? "127.0.0.1" : "::1") : newHost, port: newPort)
            }
        }

        private struct Rule: Sendable {
            /// Empty for every host; nil for every port.
            var host: String
            var port: UInt16?
            /// Empty for the same host; nil for the same port.
            var newHost: String
            var newPort: UInt16?

            /// `HOST1:PORT1:HOST2:PORT2`, each of which may be empty.
            init(connectTo text: String) throws {
                let parts = Self.split(text)
                guard parts.count == 4 else {
                    throw ToolFailure(.usage, "--connect-to needs HOST1:PORT1:HOST2:PORT2, not '\(text)'")
                }
                (host, newHost) = (parts[0].lowercased(), parts[2])
                (port, newPort) = (try Self.port(parts[1], text), try Self.port(parts[3], text))
            }

            /// `HOST:PORT:ADDRESS`; of several addresses, the first.
            init(resolve text: String) throws {
                let parts = Self.split(text.hasPrefix("+") ? String(text.dropFirst()) : text)
                guard parts.count >= 3, let address = parts[2].split(separator: ",").first else {
                    throw ToolFailure(.usage, "--resolve needs HOST:PORT:ADDRESS, not '\(text)'")
                }
                host = parts[0] == "*" ? "" : parts[0].lowercased()
                port = try Self.port(parts[1], text)
                newHost = address.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            }

            /// The parts between colons. Those in brackets, which lose them, have colons of their own.
            private static func split(_ text: String) -> [String] {
                // Scalars, as a combining mark forms one character with a colon before it.
                var parts = [String.UnicodeScalarView()]
                var isAddress = false
                for scalar in text.unicodeScalars {
                    switch scalar {
                    case "[", "]": isAddress = scalar == "["
                    case ":" where !isAddress: parts.append(String.UnicodeScalarView())
                    case _: parts[parts.count - 1].append(scalar)
                    }
                }
                return parts.map { String($0) }
            }

            private static func port(_ text: String, _ argument: String) throws -> UInt16? {
                if text.isEmpty || text == "*" { return nil }
                guard let port = UInt16(text) else {
                    throw ToolFailure(.usage, "'\(text)' is not a port in '\(argument)'")
                }
                return port
            }

            func apply(_ host: String, _ port: UInt16) -> (String, UInt16)? {
                guard self.host.isEmpty || self.host == host.lowercased(), self.port == nil || self.port == port else {
                    return nil
                }
                return (newHost.isEmpty ? host : newHost, newPort ?? port)
            }
        }
    }

    extension IPAddress.Family {
        fileprivate func isOf(_ family: AddressFamily) -> Bool { (self == .v4) == (family == .ipv4) }
    }
#endif
