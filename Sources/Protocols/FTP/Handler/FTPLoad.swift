import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// One request to an FTP server: finds who the user is, gets a control connection, and moves the file's bytes between the data
/// connection and the receiver. Confined to the session's loop.
final class FTPLoad: LoopHandler, @unchecked Sendable {  // confined to `resources.loop`
    enum State {
        case new
        /// For a connection, or for the program's answer to a challenge.
        case waiting
        case connected(FTPConnection)
        case over
    }

    let urlRequest: URLRequest
    let resources: LoadResources
    let session: FTPSession
    private(set) var receiver: (any LoadReceiver)?
    private(set) var request: FTPRequest?
    var state = State.new
    let number: UInt64
    var login = FTPLogin()
    /// Nil until they are found.
    var ways: ProxyWays?
    /// Whether the control connection was made.
    var isOpen = false
    var timings: TransactionTimings
    var isReused = false
    private var isCollected = false
    var response: URLResponse?

    var data: FTPDataChannel?
    var beginning: FTPClientStateMachine.Beginning?
    var facts = FTPFacts()
    var range: Range<Int64>?
    var listing: FTPListingBody?
    var received: Int64 = 0
    var sender: FTPBodySender?
    /// The receiver takes no bytes now.
    var isBlocked = false
    var isDataOver = false
    /// What came while the receiver took nothing: no response may be given then.
    var heldBeginning: FTPClientStateMachine.Beginning?
    var heldEnd: FTPFacts?
    var heldRefusal: FTPRefusal?

    /// Whether the connection may not be one that was used before.
    var needsFresh = false
    /// Why the last data connection could not be made.
    var dataError: (any Error)?
    /// Why bytes could not be sent: the server's reason is waited for.
    var sendError: TransportError?
    var reasonTimer: LoopTimer?

    init(_ request: URLRequest, _ resources: LoadResources) {
        urlRequest = request
        self.resources = resources
        session = FTPSession.of(resources.core)
        number = session.makeLoadNumber()
        timings = TransactionTimings(fetchStart: resources.loop.now)
    }

    var loop: EventLoop { resources.loop }
    var server: FTPServer? { request?.server }

    var connection: FTPConnection? {
        if case .connected(let connection) = state { connection } else { nil }
    }

    // MARK: LoopHandler

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        do {
            let request = try FTPRequest(urlRequest)
            self.request = request
            guard request.server.security != .none || session.settings.allowsCleartext(to: request.server.host) else {
                throw LoadFailure(
                    .appTransportSecurityRequiresSecureConnection,
                    "cleartext ftp to \(request.server.host) is not allowed by App Transport Security: use ftps, or the "
                        + "field FTP-TLS: required, or allow it with configuration.appTransportSecurity "
                        + "(exceptionDomains or allowsArbitraryLoads)")
            }
            login = FTPLogin(request, session)
            try findWays(to: request.server)
        } catch {
            fail(error)
        }
    }

    func end() {
        session.withdraw(self)
        session.proxies.withdraw(number)
        if let connection {
            connection.load = nil
            connection.close()
        }
        stop()
        receiver = nil
    }

    func receiverDidBlock() { isBlocked = true }

    func receiverDidBecomeReady() {
        isBlocked = false
        if let beginning = heldBeginning.take() { transferDidBegin(beginning) }
        if let facts = heldEnd.take() { complete(facts) }
        if let refusal = heldRefusal.take() { return transferDidFail(refusal) }
        readData()
        sendData()
    }

    func noteActivity(received count: Int) {
        timings.responseHeaderBytesReceived += Int64(count)
        receiver?.noteActivity()
    }

    // MARK: The end

    func finish() {
        guard let receiver else { return }
        state = .over
        timings.responseEnd = loop.now
        collect()
        receiver.finish()
    }

    func fail(_ error: any Error) {
        if case .over = state { return }
        let connection = connection
        state = .over
        stopTransfer()
        if let connection {
            connection.load = nil
            connection.close()
        }
        guard let receiver else { return }
        timings.responseEnd = loop.now
        collect()
        receiver.fail(LoadFailure.ofConnecting(explained(error)))
    }

    /// That no data connection came about is said by the server's refusal, or by the reason for which none could be made.
    private func explained(_ error: any Error) -> any Error {
        guard let dataError, (error as? LoadFailure)?.code == .cannotConnectToHost else { return error }
        return dataError
    }

    private func collect() {
        guard !isCollected else { return }
        isCollected = true
        receiver?.collect(TransactionRecord(timings: timings, request: urlRequest, response: response))
    }

    func stopTransfer() {
        data?.close()
        data = nil
        if case .source(let source, _)? = request?.body { (source as? BodyStreamReader)?.abandon() }
        sender = nil
        reasonTimer?.cancel()
        reasonTimer = nil
    }

    private func stop() {
        stopTransfer()
        state = .over
    }
}
