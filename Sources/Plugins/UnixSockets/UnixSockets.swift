import Foundation
import LoadingKit

/// HTTP and WebSockets over Unix-domain sockets, with URLs whose host is the socket's path, percent-encoded.
///
/// ```swift
/// let configuration = URLSessionConfiguration.default
/// UnixSockets().install(in: configuration)
/// let session = URLSession(configuration: configuration)
/// let url = URL(string: "http+unix://%2Frun%2Fdocker.sock/v1.44/info")
/// ```
///
/// The schemes are `http+unix`, `https+unix`, `ws+unix` and `wss+unix`. A session has the same features over these
/// sockets as over TCP: connections are kept, HTTP/2 is used where TLS has selected it or the configuration requires it
/// (`assumesCleartextHTTP2`), and bodies are streamed. To send the requests for an ordinary `http` URL to a socket, see
/// `URLSessionConfiguration.unixSocket`.
public struct UnixSockets: Sendable {
    /// The name for `Host` and `:authority`, for which a certificate must be valid. A redirect to this name, without a
    /// port, stays at the socket. Default `localhost`.
    public var serverName: String

    /// Makes a value with the server's name for all sockets.
    public init(serverName: String = "localhost") { self.serverName = serverName }

    /// Enables these schemes for the sessions that are made from a configuration from now on.
    public func install(in configuration: URLSessionConfiguration) {
        let (name, others) = (serverName, configuration.unixSocket)
        configuration.unixSocket = { host in
            if let path = UnixSocketURL.socketPath(ofHost: host) { return UnixSocket(path: path, serverName: name) }
            return others?(host)
        }
        configuration.interceptors.append(UnixSocketURLs(serverName: name))
    }
}
