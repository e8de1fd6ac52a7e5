#if CommandLineTool
    import ArgumentParser

    /// The way to the servers.
    struct ConnectionOptions: ParsableArguments {
        @Option(
            name: [.customShort("x"), .long], parsing: .unconditional,
            help: ArgumentHelp(
                "Use a proxy; without a scheme, an HTTP proxy. '' is none.", valueName: "[SCHEME://]HOST[:PORT]"))
        var proxy: String?

        @Option(
            name: [.customShort("U"), .long], parsing: .unconditional,
            help: ArgumentHelp("Name and password for the proxy.", valueName: "NAME:PASSWORD"))
        var proxyUser: String?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Reach these hosts without a proxy; * is all.", valueName: "HOSTS"))
        var noproxy: String?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Use a SOCKS 5 proxy, which resolves names.", valueName: "HOST[:PORT]"))
        var socks5: String?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Use a SOCKS 5 proxy, which resolves names.", valueName: "HOST[:PORT]"))
        var socks5Hostname: String?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Use a SOCKS 4 proxy, which resolves names.", valueName: "HOST[:PORT]"))
        var socks4: String?

        @Option(
            name: .customLong("socks4a"), parsing: .unconditional,
            help: ArgumentHelp("Use a SOCKS 4 proxy, which resolves names.", valueName: "HOST[:PORT]"))
        var socks4a: String?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Connect to this socket in place of the servers.", valueName: "PATH"))
        var unixSocket: String?

        @Option(
            name: .long, parsing: .unconditionalSingleValue,
            help: ArgumentHelp("Use this address for a host and port.", valueName: "HOST:PORT:ADDRESS"))
        var resolve: [String] = []

        @Option(
            name: .long, parsing: .unconditionalSingleValue,
            help: ArgumentHelp("Connect to HOST2:PORT2 for HOST1:PORT1.", valueName: "HOST1:PORT1:HOST2:PORT2"))
        var connectTo: [String] = []

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Keep the hosts that require https in a file.", valueName: "FILE"))
        var hsts: String?

        @Flag(help: "Use addresses of this version of IP alone.")
        var family: AddressFamily?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp(
                "Connect from a network interface or an address; if!NAME is an interface, host!NAME a host's address.",
                valueName: "NAME"))
        var interface: String?

        @Flag(
            name: [.customLong("http1.1"), .customLong("no-alpn")], help: "Do not offer HTTP/2.")
        var http1 = false

        @Flag(name: [.customShort("0"), .customLong("http1.0")], help: "Send requests of HTTP/1.0.")
        var http10 = false

        @Flag(name: .customLong("http2-prior-knowledge"), help: "Use HTTP/2 without TLS at once.")
        var priorKnowledge = false
    }

    /// A version of IP.
    enum AddressFamily: String, EnumerableFlag {
        case ipv4, ipv6

        static func name(for value: AddressFamily) -> NameSpecification {
            [.customShort(value == .ipv4 ? "4" : "6"), .long]
        }
    }

    /// Certificates and versions.
    struct TLSOptions: ParsableArguments {
        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Trust the certificate authorities of this PEM file alone.", valueName: "FILE"))
        var cacert: String?

        @Flag(name: [.customShort("k"), .long], help: "Do not verify the server's certificate.")
        var insecure = false

        @Option(
            name: [.customShort("E"), .long], parsing: .unconditional,
            help: ArgumentHelp("The client's certificate, in PEM or PKCS#12.", valueName: "FILE[:PASSWORD]"))
        var cert: String?

        @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("PEM or P12.", valueName: "TYPE"))
        var certType: String?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("The key of --cert, where it is in a file of its own.", valueName: "FILE"))
        var key: String?

        @Option(
            name: .long, parsing: .unconditional, help: ArgumentHelp("The key's password.", valueName: "PASSWORD"))
        var pass: String?

        @Option(
            name: .customLong("pinnedpubkey"), parsing: .unconditional,
            help: ArgumentHelp(
                "Accept only servers with one of these keys; hashes are joined with ;.", valueName: "sha256//HASH"))
        var pinnedKeys: String?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Offer these cipher suites of TLS 1.2, by OpenSSL's names.", valueName: "LIST"))
        var ciphers: String?

        @Option(
            name: .customLong("tls13-ciphers"), parsing: .unconditional,
            help: ArgumentHelp("Offer these cipher suites of TLS 1.3.", valueName: "LIST"))
        var tls13Ciphers: String?

        @Flag(help: "The oldest version of TLS to accept.")
        var version: TLSVersionOption?

        @Option(
            name: .customLong("tls-max"), parsing: .unconditional,
            help: ArgumentHelp("The newest version of TLS to offer: 1.2 or 1.3.", valueName: "VERSION"))
        var newest: String?
    }

    /// The oldest version of TLS.
    enum TLSVersionOption: String, EnumerableFlag {
        case tlsv1, tlsv11, tlsv12, tlsv13

        static func name(for value: TLSVersionOption) -> NameSpecification {
            switch value {
            case .tlsv1: [.customShort("1"), .customLong("tlsv1"), .customLong("tlsv1.0")]
            case .tlsv11: .customLong("tlsv1.1")
            case .tlsv12: .customLong("tlsv1.2")
            case .tlsv13: .customLong("tlsv1.3")
            }
        }
    }
#endif
