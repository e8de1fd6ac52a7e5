import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// The data connection of one transfer. Confined to the session's loop.
///
/// It goes to the machine that the control connection goes to, whatever address the server names: a server, or who speaks in
/// its place, cannot make the client connect to others.
final class FTPDataChannel: ByteStreamHandler {
    private enum State {
        case new
        case tunnelling(ProxyTunnel)
        case connecting(ConnectAttempt)
        /// Without TLS, or before it.
        case connected(ByteStream)
        case securing(ConnectAttempt)
        /// Bytes of the file can be sent.
        case ready(ByteStream)
        case closed
    }

    private let connection: FTPConnection
    private weak var load: FTPLoad?
    private var state = State.new

    init(_ connection: FTPConnection, for load: FTPLoad) {
        self.connection = connection
        self.load = load
    }

    /// The stream on which bytes of the file can be sent; nil where there is none, or not yet.
    var stream: ByteStream? {
        if case .ready(let stream) = state { stream } else { nil }
    }

    private var isSecure: Bool { connection.key.server.security != .none }

    // MARK: Connecting

    func open(port: UInt16) {
        let (session, key) = (connection.session, connection.key)
        if let proxy = key.proxy {
            let tunnel = ProxyTunnel { [weak self] in self?.load?.tunnelRequester }
            state = .tunnelling(tunnel)
            do {
                try tunnel.start(
                    to: key.server.host, port: port, through: proxy, NSURLProtectionSpaceFTPProxy, over: key.use,
                    session.connector, session.settings, asking: connection, limit: nil
                ) { [weak self] in self?.didConnect($0) }
            } catch {
                session.loop.executeLater { [weak self] in self?.didConnect(.failure(error)) }
            }
            return
        }
        let host = connection.info?.remote.address ?? key.server.host
        let attempt = session.connector.connect(
            to: .tcp(host: host, port: port), over: key.use, timeout: session.settings.connectTimeout
        ) { [weak self] in self?.didConnect($0.mapError { $0 as any Error }) }
        state = .connecting(attempt)
    }

    private func didConnect(_ result: Result<ByteStream, any Error>) {
        switch state {
        case .tunnelling, .connecting: break
        case .new, .connected, .securing, .ready, .closed: return
        }
        switch result {
        case .success(let stream):
            state = .connected(stream)
            load?.dataDidOpen()
        case .failure(let error):
            state = .closed
            load?.dataDidFail(error)
        }
    }

    /// The server knows by now what the connection is for, and begins TLS on it, if there is to be TLS.
    func commandWasSent() {
        guard case .connected(let stream) = state else { return }
        guard isSecure else { return become(stream) }
        do {
            // The endpoint is the control connection's: its TLS session is resumed.
            let attempt = connection.session.connector.secure(
                stream, endpoint: connection.endpoint, tls: try connection.secureDemand(),
                timeout: connection.session.settings.connectTimeout
            ) { [weak self] in self?.didSecure($0) }
            state = .securing(attempt)
        } catch {
            close()
            load?.dataDidBreak(error)
        }
    }

    private func didSecure(_ result: Result<ByteStream, TransportError>) {
        guard case .securing = state else { return }
        switch result {
        case .success(let stream): become(stream)
        case .failure(let error):
            state = .closed
            load?.dataDidBreak(error)
        }
    }

    private func become(_ stream: ByteStream) {
        state = .ready(stream)
        stream.handler = self
        load?.dataDidBecomeReady()
    }

    func streamDidBecomeReadable(_ stream: ByteStream) { load?.dataDidBecomeReadable() }
    func streamDidBecomeWritable(_ stream: ByteStream) { load?.dataDidBecomeWritable() }

    // MARK: The end

    func close() {
        let last = state
        state = .closed
        switch last {
        case .new, .closed: break
        case .tunnelling(let tunnel): tunnel.cancel()
        case .connecting(let attempt), .securing(let attempt): attempt.cancel()
        case .connected(let stream), .ready(let stream): stream.close()
        }
    }
}
