import Foundation

/// The address of a server in a ``ProxyConfiguration``: the part of Apple's Network framework that it requires.
public enum NWEndpoint: Hashable, Sendable {
    /// A name or an address, and a port.
    case hostPort(host: Host, port: Port)
    /// A Unix-domain socket. A proxy cannot have this address.
    case unix(path: String)
    /// The host and the port of a URL.
    case url(URL)

    /// A name or an address.
    public struct Host: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        private let text: String

        /// A name, or an address with or without brackets.
        public init(_ string: String) { text = string }

        /// The same as ``init(_:)``.
        public init(stringLiteral value: String) { self.init(value) }

        /// The host's text.
        public var description: String { text }
    }

    /// A TCP port.
    public struct Port: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
        /// The number.
        public let rawValue: UInt16

        /// A port by its number.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// A port by its number.
        public init(integerLiteral value: UInt16) { self.init(rawValue: value) }

        /// A port by its number as text; nil where the text is not a port number.
        public init?(_ string: String) {
            guard let number = UInt16(string) else { return nil }
            self.init(rawValue: number)
        }

        /// The number.
        public var description: String { String(rawValue) }

        /// Port 0, which stands for the usual port of the protocol.
        public static let any: Port = 0
        /// 80.
        public static let http: Port = 80
        /// 443.
        public static let https: Port = 443
        /// 1080.
        public static let socks: Port = 1080
    }

    /// Nil where no proxy can have this address.
    var hostAndPort: (host: String, port: UInt16)? {
        switch self {
        case .hostPort(let host, let port): host.description.isEmpty ? nil : (host.description, port.rawValue)
        case .url(let url): url.host().map { ($0, url.port.flatMap { UInt16(exactly: $0) } ?? 0) }
        case .unix: nil
        }
    }
}

/// TLS to a proxy, for a ``ProxyConfiguration``: the part of Apple's Network framework that it requires.
public enum NWProtocolTLS {
    /// Requires TLS. The session's own settings determine the trusted authorities and the TLS versions.
    public final class Options: Sendable, Hashable {
        /// TLS with the session's settings.
        public init() {}

        /// Whether both have the same settings: always true.
        public static func == (one: Options, other: Options) -> Bool { true }

        /// Agrees with `==`.
        public func hash(into hasher: inout Hasher) {}
    }
}
