/// A Unix-domain socket to which connections for a host are made, in place of the host's addresses
/// (``URLSessionConfiguration/unixSocket``).
public struct UnixSocket: Sendable, Hashable {
    /// The socket's path, absolute or relative to the working directory; at most 107 bytes of UTF-8.
    public var path: String

    /// The name for `Host`, `:authority` and TLS, for which the server's certificate must be valid. Nil for the URL's
    /// host.
    public var serverName: String?

    /// A socket; by default the URL's host is the server's name.
    public init(path: String, serverName: String? = nil) {
        self.path = path
        self.serverName = serverName
    }
}
