import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitPrimitives
import LoadingKitTransport

/// One request to an FTP server: finds who the user is, gets a control connection, and moves the file's bytes between the data
/// connection and the receiver. Confined to the session's loop.
final class FTPLoad: LoopHandler, @unchecked Sendable {  // confined to `resources.loop`
    private enum State {
        case new
        /// For a connection, or for the program's answer to a challenge.
        case waiting
        case connected(FTPConnection)
        case over
    }

    private let urlRequest: URLRequest
    private let resources: LoadResources
    private let session: FTPSession
    private(set) var receiver: (any LoadReceiver)?
    private(set) var request: FTPRequest?
    private var state = State.new
    private let number: UInt64
    private var login = FTPLogin()
    /// Nil until they are found.
    private var ways: TunnelWays?
    /// Whether the control connection was made.
    private var isOpen = false
    private var timings: TransactionTimings
    private var isReused = false
    private var isCollected = false
    private var response: URLResponse?

    private var data: FTPDataChannel?
    private var beginning: FTPClientStateMachine.Beginning?
    private var facts = FTPFacts()
    private var range: Range<Int64>?
    private var listing: FTPListingBody?
    private var received: Int64 = 0
    private var sender: FTPBodySender?
    /// The receiver takes no bytes now.
    private var isBlocked = false
    private var isDataOver = false
    /// What came while the receiver took nothing: no response may be given then.
    private var heldBeginning: FTPClientStateMachine.Beginning?
    private var heldEnd: FTPFacts?
    private var heldRefusal: FTPRefusal?

    init(_ request: URLRequest, _ resources: LoadResources) {
        urlRequest = request
        self.resources = resources
        session = FTPSession.of(resources.core)
        number = session.makeLoadNumber()
        timings = TransactionTimings(fetchStart: resources.loop.now)
    }

    private var loop: EventLoop { resources.loop }
    var server: FTPServer? { request?.server }

    private var connection: FTPConnection? {
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

    // MARK: The connection

    private func findWays(to server: FTPServer) throws(LoadFailure) {
        state = .waiting
        ways = try session.proxies.findWays(to: server.host, port: server.port, for: number) { [weak self] in
            self?.didFindWays($0)
        }
        if ways != nil { connect() }
    }

    private func didFindWays(_ result: Result<TunnelWays, any Error>) {
        guard case .waiting = state, ways == nil else { return }
        switch result {
        case .success(let found):
            ways = found
            connect()
        case .failure(let error): fail(error)
        }
    }

    /// How long making the control connection may take where there is another way, in nanoseconds.
    var wayLimit: UInt64? { ways?.limit(of: session.settings.connectTimeout) }

    var tunnelRequester: TunnelRequester? { receiver.map { TunnelRequester(urlRequest, resources, $0) } }

    private func connect(needsFresh: Bool = false) {
        guard let request, let ways else { return }
        state = .waiting
        // The task's own delegate decides about TLS, and answers the proxy.
        let isDecided = request.server.security != .none || ways.proxy != nil
        let key = FTPConnectionKey(
            server: request.server, user: login.user, password: login.password,
            proxy: ways.proxy, use: session.networks(for: urlRequest),
            decider: isDecided ? receiver?.challengeDelegate.map { ObjectIdentifier($0) } : nil)
        self.needsFresh = needsFresh
        session.connect(self, key, needsFresh: needsFresh)
    }

    private var needsFresh = false

    func didBeginWaiting() { receiver?.queueStateDidChange(isQueued: true) }

    func waitDidEnd() {
        guard case .waiting = state else { return }
        receiver?.queueStateDidChange(isQueued: false)
        connect(needsFresh: needsFresh)
    }

    func use(_ connection: FTPConnection, isReused: Bool) {
        state = .connected(connection)
        connection.load = self
        isOpen = isReused
        self.isReused = isReused
        // A connection that is being made begins with the greeting.
        if isReused { transferWillBegin(on: connection) }
    }

    func connectionDidOpen() {
        isOpen = true
        if let proxy = ways?.proxy { session.proxies.wayDidOpen(proxy) }
        receiver?.noteActivity()
    }

    func connectionDidSend(_ command: FTPCommand) {
        timings.requestHeaderBytesSent += Int64(command.bytes.count)
        receiver?.noteActivity()
        switch command.name {
        case "RETR", "STOR", "APPE", "MLSD", "LIST": data?.commandWasSent()
        case _: break
        }
    }

    /// The server ended the connection, with a reply.
    func connectionDidRefuse(_ refusal: FTPRefusal) { connectionDidEnd(LoadFailure(refusal)) }

    func connectionDidFail(_ error: any Error) { connectionDidEnd(error) }

    private func connectionDidEnd(_ error: any Error) {
        guard case .connected = state else { return }
        // The server has given up a connection that nothing was asked on for a while (RFC 959 §4.2.2, 421).
        if isReused, beginning == nil, response == nil {
            stopTransfer()
            return connect(needsFresh: true)
        }
        guard !isOpen else { return fail(error) }
        if let proxy = ways?.proxy { session.proxies.wayDidFail(proxy, error) }
        if ways?.takeNext(after: error) == true { return connect(needsFresh: needsFresh) }
        fail(ways?.failure(error) ?? error)
    }

    // MARK: What the machine wants

    func perform(_ action: FTPClientStateMachine.Action, on connection: FTPConnection) {
        guard self.connection === connection else { return }
        switch action {
        case .logIn(let refusal?): loginDidFail(refusal)
        case .logIn(nil): connection.logIn(login.user, login.password)
        case .givePassword: loginDidFail(nil)
        case .ready:
            if let credential = login.credentialOfProgram, let server {
                session.serverDidAccept(credential, server, for: resources.task)
            }
            transferWillBegin(on: connection)
        case .report(let facts): fileIsKnown(facts, connection)
        case .openData(let port):
            let data = FTPDataChannel(connection, for: self)
            self.data = data
            data.open(port: port)
        case .begin(let beginning): transferDidBegin(beginning)
        case .finish(let facts): transferDidFinish(facts, connection)
        case .fail(let refusal): transferDidFail(refusal)
        case .wait, .send, .startTLS, .close: break
        }
    }

    private func release(_ connection: FTPConnection) {
        state = .waiting
        connection.load = nil
        session.release(connection)
    }

    // MARK: Logging in

    /// The connection is given up meanwhile: the program may take long to answer, and the user may be another one then.
    private func loginDidFail(_ refusal: FTPRefusal?) {
        guard let connection, let server, let receiver else { return }
        connection.load = nil
        connection.close()
        state = .waiting
        session.serverDidRefuse(login.user, login.password, server)
        guard let challenge = login.challenge(after: refusal, server) else {
            return fail(refusal.map(LoadFailure.init) ?? .passwordMissing)
        }
        receiver.challenge(challenge) { [weak self] disposition, credential in
            guard let self, case .waiting = state else { return }
            switch login.settle(challenge, disposition, credential) {
            case .logIn: connect()
            case .cancel:
                fail(
                    LoadFailure(
                        .userCancelledAuthentication, "the program cancelled the server's authentication challenge"))
            case .giveUp: fail(refusal.map(LoadFailure.init) ?? .passwordMissing)
            }
        }
    }

    // MARK: The transfer

    private func transferWillBegin(on connection: FTPConnection) {
        guard let request, let metrics = connection.metrics else { return }
        timings.beginRequest(on: metrics, isReused: isReused, at: loop.now)
        connection.begin(request.transfer)
    }

    private func fileIsKnown(_ facts: FTPFacts, _ connection: FTPConnection) {
        guard let request else { return }
        if request.transfer.operation == .retrieve, request.user != nil, let password = login.password {
            session.didRead(request.transfer.path, request.server, as: login.user, password)
        }
        self.facts = facts
        range = request.range(of: facts)
        connection.proceed(from: request.transfer.operation == .store ? request.bodyOffset : range?.lowerBound ?? 0)
    }

    func dataDidOpen() { connection?.dataDidOpen() }

    func dataDidFail(_ error: any Error) {
        dataError = error
        connection?.dataDidFail()
    }

    /// Why the last data connection could not be made.
    private var dataError: (any Error)?

    func dataDidBreak(_ error: any Error) {
        // What the server has to say is more than that.
        guard connection != nil else { return }
        fail(error)
    }

    private func transferDidBegin(_ beginning: FTPClientStateMachine.Beginning) {
        guard let request, let receiver else { return }
        if isBlocked {
            heldBeginning = beginning
            return
        }
        self.beginning = beginning
        timings.requestEnd = loop.now
        switch request.transfer.operation {
        case .retrieve:
            if beginning.offset == 0, range?.lowerBound ?? 0 > 0 { range = nil }
            var facts = facts
            if facts.size == nil, request.transfer.path.form != .text { facts.size = beginning.announcedSize }
            give(FTPResponse.file(request, facts, range: range))
        case .list:
            let body = FTPListingBody(request, isMachineListing: beginning.isMachineListing)
            listing = body
            give(FTPResponse.listing(request))
            if self.receiver != nil { give(body.begin()) }
        case .store, .append:
            sender = request.body.map { FTPBodySender($0) }
            receiver.noteActivity()
        case .inspect, .makeDirectory: break
        }
        readData()
        sendData()
    }

    private func give(_ response: URLResponse) {
        self.response = response
        timings.responseStart = loop.now
        if receiver?.receive(response) == .wait { isBlocked = true }
    }

    private func give(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        timings.responseBodyBytesAfterDecoding += Int64(bytes.count)
        if bytes.withUnsafeBytes({ receiver?.receive($0) }) == .wait { isBlocked = true }
    }

    private func transferDidFinish(_ facts: FTPFacts, _ connection: FTPConnection) {
        stopTransfer()
        release(connection)
        complete(facts)
    }

    /// The server has broken the transfer off. What came before is read first: a resumed download need not load it again.
    private func transferDidFail(_ refusal: FTPRefusal) {
        readRest()
        guard let connection else { return }
        if isBlocked, isReading, !isDataOver {
            heldRefusal = refusal
            return
        }
        // Some servers say on the control connection, too, that TLS of a data connection came to nothing: the next
        // command would take that for its answer.
        let mayHaveMore = data != nil && connection.key.server.security != .none
        stopTransfer()
        if !mayHaveMore { release(connection) }
        fail(LoadFailure(refusal))
    }

    /// Whether a file's bytes come.
    private var isReading: Bool {
        request?.transfer.operation == .retrieve && (beginning != nil || heldBeginning != nil)
    }

    private func complete(_ facts: FTPFacts) {
        guard let request else { return }
        switch request.transfer.operation {
        case .retrieve: break
        case .list, .inspect, .store, .append, .makeDirectory:
            guard !isBlocked else {
                heldEnd = facts
                return
            }
        }
        switch request.transfer.operation {
        case .retrieve:
            if let expected = expectedCount, received < expected {
                return fail(
                    LoadFailure(
                        .networkConnectionLost, "the server sent \(received) bytes of the \(expected) that the file has"
                    ))
            }
        case .list: if let end = listingEnd() { give(end) } else { return }
        case .inspect: give(FTPResponse.file(request, facts, range: nil))
        case .store, .append, .makeDirectory: give(FTPResponse.written(request))
        }
        finish()
    }

    private func listingEnd() -> [UInt8]? {
        do {
            return try listing?.finish() ?? []
        } catch {
            fail(error)
            return nil
        }
    }

    /// How many bytes the server said that there are: with `SIZE`, which is exact.
    private var expectedCount: Int64? {
        guard request?.transfer.path.form != .text else { return nil }
        return range.map { $0.upperBound - $0.lowerBound } ?? facts.size
    }

    // MARK: Reading

    /// Reads in a row before the loop's other connections have their turn.
    private static let readsInARow = 16

    func dataDidBecomeReady() {
        receiver?.noteActivity()
        readData()
        sendData()
    }

    func dataDidBecomeReadable() { readData() }

    private func readData() {
        guard listing != nil || request?.transfer.operation == .retrieve, beginning != nil else { return }
        for _ in 0..<Self.readsInARow {
            guard !isBlocked, !isDataOver, receiver != nil, let stream = data?.stream else { return }
            guard readOnce(stream) else { return }
        }
        loop.executeLater { [weak self] in self?.readData() }
    }

    /// Reads a file's bytes that have come.
    private func readRest() {
        guard isReading else { return }
        // The event for what came before the reply may not have been seen.
        data?.stream?.assumeReadable()
        for _ in 0..<Self.readsOfRest {
            guard !isBlocked, !isDataOver, receiver != nil, let stream = data?.stream, readOnce(stream) else { return }
        }
    }

    /// A server that goes on sending is not listened to.
    private static let readsOfRest = 256

    /// False when there is no more to read now.
    private func readOnce(_ stream: ByteStream) -> Bool {
        let left = (expectedCount ?? .max) - received
        if listing == nil, left > 0, let memory = receiver?.bodyBuffer(atMost: Int(clamping: min(left, 1 << 20))) {
            let space = UnsafeMutableRawBufferPointer(rebasing: memory.prefix(Int(clamping: left)))
            switch stream.read(into: space) {
            case .bytes(let count):
                note(count)
                if receiver?.bodyBufferFilled(count) == .wait { isBlocked = true }
                checkRangeEnd()
                return true
            case .wouldBlock: return false
            case .end: dataDidEnd()
            case .failed(let error): dataDidFailToRead(error)
            }
            return false
        }
        switch stream.read(into: loop.scratch) {
        case .bytes(let count):
            note(count)
            take(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count]))
            return true
        case .wouldBlock: return false
        case .end: dataDidEnd()
        case .failed(let error): dataDidFailToRead(error)
        }
        return false
    }

    private func note(_ count: Int) {
        received += Int64(count)
        timings.responseBodyBytesReceived += Int64(count)
        if listing == nil { timings.responseBodyBytesAfterDecoding += Int64(count) }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard listing != nil else {
            // Of a part no more than that part is given.
            let surplus = range.map { max(0, received - ($0.upperBound - $0.lowerBound)) } ?? 0
            let part = UnsafeRawBufferPointer(rebasing: bytes.dropLast(Int(clamping: surplus)))
            if !part.isEmpty, receiver?.receive(part) == .wait { isBlocked = true }
            return checkRangeEnd()
        }
        do throws(FTPListingError) {
            let rows = try listing?.receive(bytes) ?? []
            give(rows)
        } catch {
            fail(error)
        }
    }

    /// The part that was asked for is there, and the server would send on to the file's end: the connection is given up.
    private func checkRangeEnd() {
        guard let range, let size = facts.size, range.upperBound < size,
            received >= range.upperBound - range.lowerBound,
            let connection
        else { return }
        stopTransfer()
        connection.load = nil
        connection.close()
        state = .waiting
        finish()
    }

    private func dataDidEnd() {
        isDataOver = true
        data?.close()
        connection?.dataDidEnd()
    }

    /// Many servers end TLS by closing the connection: then the size shows whether all bytes are there.
    private func dataDidFailToRead(_ error: TransportError) {
        if error.cause == .truncated, let expected = expectedCount, received == expected, listing == nil {
            return dataDidEnd()
        }
        isDataOver = true
        data?.close()
        fail(error)
    }

    // MARK: Sending

    func dataDidBecomeWritable() { sendData() }

    private func sendData() {
        guard beginning != nil, !isDataOver, !isBlocked, sender != nil, let stream = data?.stream, let request else {
            return
        }
        let before = sender?.count ?? 0
        let progress = sender?.proceed(stream)
        let sent = (sender?.count ?? 0) - before
        if sent > 0 {
            timings.requestBodyBytesSent += sent
            timings.requestBodyBytesBeforeEncoding += sent
            receiver?.didSendBody(Int(sent), expected: request.body?.expectedCount ?? -1)
        }
        switch progress {
        case nil, .blocked: break
        case .needsPiece(let source): readPiece(source)
        case .done:
            isDataOver = true
            stream.finishWriting()
            connection?.dataDidEnd()
        case .failed(let error):
            // The server says why on the control connection; where it does not, that connection ends, too.
            isDataOver = true
            sendError = error
            data?.close()
            waitForReason()
        }
    }

    private var sendError: TransportError?

    /// What the server has to say of a data connection that it has closed comes at once, if it comes.
    private func waitForReason() {
        let timer = loop.schedule(at: loop.now.advanced(bySeconds: 1)) { [weak self] in
            guard let self, let error = sendError, connection != nil else { return }
            fail(error)
        }
        reasonTimer = timer
    }

    private var reasonTimer: LoopTimer?

    private func readPiece(_ source: any BodySource) {
        source.read { [weak self, loop] result in
            loop.perform { [weak self] in
                guard let self, self.sender != nil, !self.isDataOver else { return }
                switch result {
                case .success(let piece):
                    self.sender?.supply(piece)
                    self.sendData()
                case .failure(let error): self.fail(error)
                }
            }
        }
    }

    // MARK: The end

    private func finish() {
        guard let receiver else { return }
        state = .over
        timings.responseEnd = loop.now
        collect()
        receiver.finish()
    }

    private func fail(_ error: any Error) {
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

    private func stopTransfer() {
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

extension LoadFailure {
    fileprivate static let passwordMissing = LoadFailure(
        .userAuthenticationRequired,
        "the server wants the user's password, and the URL, the credential storage and the "
            + "task's delegate have none")
}
