/// A Unix-domain socket that connections for a host are made to, in place of the host's addresses
/// (``URLSessionConfiguration/unixSocket``).
public struct UnixSocket: Sendable, Hashable {
    /// The socket's path, absolute or relative to the working directory; at most 107 bytes of UTF-8.
    public var path: String

    /// The name that goes into `Host` and `:authority`, that TLS asks for, and that the server's certificate must be for. Nil
    /// for the URL's host.
    public var serverName: String?

    /// A socket; by default requests name the URL's host.
    public init(path: String, serverName: String? = nil) {
        self.path = path
        self.serverName = serverName
    }
}
