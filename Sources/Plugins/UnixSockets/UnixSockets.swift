import Foundation
import LoadingKit

/// HTTP and WebSockets over Unix-domain sockets, by URLs whose host is the socket's path, percent-encoded.
///
/// ```swift
/// let configuration = URLSessionConfiguration.default
/// UnixSockets().install(in: configuration)
/// let session = URLSession(configuration: configuration)
/// let url = URL(string: "http+unix://%2Frun%2Fdocker.sock/v1.44/info")
/// ```
///
/// The schemes are `http+unix`, `https+unix`, `ws+unix` and `wss+unix`. Everything that a session does over TCP, it
/// does over these: connections are kept, HTTP/2 is spoken where TLS has chosen it or the configuration says so
/// (`assumesCleartextHTTP2`), and bodies are streamed. To send the requests for a usual `http` URL to a socket, see
/// `URLSessionConfiguration.unixSocket`.
public struct UnixSockets: Sendable {
    /// What goes into `Host` and `:authority`, and what a certificate must be for. Default `localhost`.
    public var serverName: String

    /// Sockets whose servers are asked for a name.
    public init(serverName: String = "localhost") { self.serverName = serverName }

    /// Has the sessions that are made of a configuration from now on load such URLs.
    public func install(in configuration: URLSessionConfiguration) {
        let (name, others) = (serverName, configuration.unixSocket)
        configuration.unixSocket = { host in
            if let path = UnixSocketURL.socketPath(ofHost: host) { return UnixSocket(path: path, serverName: name) }
            return others?(host)
        }
        configuration.interceptors.append(UnixSocketURLs())
    }
}
