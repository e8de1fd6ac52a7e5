import CLoadingKitOpenSSL
import Glibc

/// One TLS connection over a socket, or inside another TLS connection. Confined to the socket's loop.
final class TLSSession {
    enum ReadResult {
        case bytes(Int)
        case wouldBlock
        case end
        case failed(TransportError.Cause)
    }

    enum WriteResult {
        case bytes(Int)
        case wouldBlock
        case failed(TransportError.Cause)
    }

    enum HandshakeResult {
        case done
        case wouldBlock
        /// The handshake continues after the decision whether the server is trusted.
        case needsTrustDecision(TrustEvaluation)
        /// The handshake continues after an identity was chosen. The value contains the names of the authorities that
        /// the server accepts, in DER.
        case needsIdentity([[UInt8]])
        case failed(TransportError.Cause)
    }

    /// The answer to OpenSSL's callback.
    enum Reply {
        case yes, no, later
    }

    let context: TLSContext
    /// Decides about certificates; nil after the handshake.
    private(set) var decider: (any TLSDecider)?
    let family: TLSFamily?
    var decisions = TLSDecisions()
    /// The failure that the verification of the peer's certificate found.
    var certificateFailure: CertificateFailure?

    /// The number of messages that the peer may send after the handshake, such as tickets and key updates. Servers send a
    /// few, and each costs about 20 µs.
    private static let maximumMessages = 1024
    /// The number of bytes of application data that allow one more message.
    private static let dataPerMessage = 65_536

    private let bio: SocketBIO
    let ssl: OpaquePointer
    private let sessionKey: String
    /// Whether the server was offered a session that it can be expected to resume.
    private let offersSession: Bool
    let serverName: String
    /// A failure that was found after bytes had been read. The next read reports it.
    private var deferred: TransportError.Cause?
    private var failed = false
    private var sentCloseNotify = false
    /// The number of messages that the peer may still send, times ``dataPerMessage``.
    private var allowance = TLSSession.maximumMessages * TLSSession.dataPerMessage

    /// `nil` when memory is out, or when the name cannot be one.
    ///
    /// - Parameter carrier: the connection inside which this one runs, over the same socket.
    init?(
        _ demand: TLSDemand, to endpoint: Endpoint, socket: Socket, inside carrier: TLSSession? = nil
    ) {
        context = demand.context
        serverName = demand.serverName
        decider = demand.decider
        family = demand.decider.family
        sessionKey = "\(serverName) \(endpoint) \(demand.decider.partition)"
        let resumable = (family?.sessions ?? context.sessions).take(for: sessionKey)
        offersSession = resumable?.isFresh ?? false
        bio = SocketBIO(socket: socket, carrier: carrier)
        carrier?.decisions.isCarrier = true
        ERR_clear_error()
        guard let ssl = SSL_new(context.context) else { return nil }
        self.ssl = ssl
        guard let pointer = bio.makeBIO() else { return nil }
        SSL_set_bio(ssl, pointer, pointer)
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        SSL_set_connect_state(ssl)
        guard name(serverName) else { return nil }
        if let resumable { offer(resumable) }
    }

    deinit { SSL_free(ssl) }

    /// OpenSSL offers a session of TLS 1.3 only once, and marks it. A family that has one ticket left offers copies of it: it
    /// may open more connections than the server has sent tickets that were read, and all belong to one connection anyway.
    private func offer(_ resumable: ResumableSession) {
        let offered = family == nil ? resumable : resumable.copy ?? resumable
        withExtendedLifetime(offered) { _ = SSL_set_session(ssl, offered.session) }
    }

    /// Sets the server name. Literal addresses are not sent as names (RFC 6066 §3).
    private func name(_ serverName: String) -> Bool {
        guard PeerName.demand(serverName, in: SSL_get0_param(ssl)) else { return false }
        return IPAddress(serverName) != nil || lk_SSL_set_tlsext_host_name(ssl, PeerName.withoutRoot(serverName)) == 1
    }

    /// Continues with a new object for the descriptor.
    func move(to socket: Socket) { bio.move(to: socket) }

    // MARK: Handshake

    /// The handshake has ended.
    ///
    /// - Returns: the reason why the connection must not be used.
    func didEstablish() -> TransportError.Cause? {
        decider = nil
        decisions.isEstablished = true
        decisions.identity = .unasked
        return family?.didEstablish(info, hasOffered: offersSession)
    }

    func handshake() -> HandshakeResult {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        if result == 1 { return afterHandshake() }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
            _ = bio.flush()
            guard loss != nil else { return .wouldBlock }
            failed = true
            return .failed(handshakeCause())
        case SSL_ERROR_WANT_RETRY_VERIFY: return .needsTrustDecision(evaluation)
        case SSL_ERROR_WANT_X509_LOOKUP: return .needsIdentity(acceptedAuthorities)
        case _:
            failed = true
            _ = bio.flush()  // the alert
            return .failed(handshakeCause())
        }
    }

    private func handshakeCause() -> TransportError.Cause {
        if case .systemCall(let name, let code) = bio.failure {
            return TransportError.Cause(SystemCallFailure(name: name, code: code))
        }
        if let failure = bio.failure { return failure }
        if let failure = decisions.failure(certificateFailure, context.options, peerCertificates.first) {
            return failure
        }
        // A TLS record begins with a byte from 20 to 24 (RFC 8446 §5.1); a line of text does not.
        if let byte = bio.firstByte, (0x20...0x7E).contains(byte) { return .plainTextPeer }
        if bio.sawEnd { return .handshakeClosed("the peer closed the connection during the handshake") }
        return tlsFailure()
    }

    /// OpenSSL's last failure, which is often the peer's reason for refusing.
    private func tlsFailure() -> TransportError.Cause {
        guard let alert = TLSAlert(error: ERR_peek_error()) else { return .handshake(OpenSSLError.text()) }
        ERR_clear_error()
        return .alert(alert, decisions.clientCertificate)
    }

    // MARK: Reading

    /// Reads the available records, up to `count` bytes.
    func read(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> ReadResult {
        if let deferred { return .failed(deferred) }
        // Done once for all records, as it costs a tenth of a small record's time.
        ERR_clear_error()
        var total = 0
        while total < count {
            switch readOnce(buffer + total, count - total) {
            case .bytes(let read):
                total += read
                bio.overhead = 0
                allowance = min(allowance + read, Self.maximumMessages * Self.dataPerMessage)
            case .wouldBlock:
                if total > 0 { return .bytes(total) }
                guard let loss else { return .wouldBlock }
                fail(loss)
                return .failed(loss)
            case .end:
                // OpenSSL stores the end and reports it again.
                return total > 0 ? .bytes(total) : .end
            case .failed(let cause):
                deferred = cause
                return total > 0 ? .bytes(total) : .failed(cause)
            }
            // Avoids a call that would only return "try again".
            if SSL_has_pending(ssl) == 0, !bio.mayHaveInput { break }
        }
        return .bytes(total)
    }

    /// Reads once. OpenSSL's list of errors must be empty.
    private func readOnce(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> ReadResult {
        var read = 0
        let result = SSL_read_ex(ssl, buffer, count, &read)
        if result == 1 { return .bytes(read) }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE, SSL_ERROR_WANT_X509_LOOKUP: return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return .end
        case _:
            failed = true
            return .failed(cause())
        }
    }

    /// OpenSSL has processed a message of the handshake, or after it.
    func didProcessMessage() {
        guard decisions.isEstablished else { return }
        allowance -= Self.dataPerMessage
        guard allowance < 0 else { return }
        fail(.endlessMessages)
        bio.stopReading()
    }

    private func cause() -> TransportError.Cause {
        if case .forbidden = decisions.identity { return .forbiddenQuestion }
        if TLSAlert(error: ERR_peek_error()) != nil { return tlsFailure() }
        if let failure = bio.failure { return failure }
        return bio.sawEnd ? .truncated : .handshake(OpenSSLError.text())
    }

    /// Whether there is input that epoll does not report.
    var hasPendingInput: Bool {
        deferred != nil
            || !awaitsIdentity && (SSL_has_pending(ssl) == 1 || hasEnded || bio.carrier?.hasPendingInput == true)
    }

    /// Whether the peer's `close_notify` was received. It may have come with the last bytes, before a read reports it.
    private var hasEnded: Bool { SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// The connection has become unusable, for a reason that OpenSSL does not know. The next read reports it.
    func fail(_ cause: TransportError.Cause) {
        deferred = cause
        failed = true
    }

    /// Whether the peer has sent no application data, only messages of TLS itself.
    func checkIsQuiet() -> Bool {
        guard deferred == nil, !failed, loss == nil else { return false }
        // Far cheaper than to ask OpenSSL.
        if bio.socket.peek() == -Int(EAGAIN) { return !hasPendingInput }
        bio.socket.assumeReadable()
        ERR_clear_error()
        var byte: UInt8 = 0
        var read = 0
        let result = SSL_peek_ex(ssl, &byte, 1, &read)
        guard result != 1 else { return false }
        switch SSL_get_error(ssl, result) {
        // There may be the first bytes of a record.
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return !hasPendingInput
        case SSL_ERROR_ZERO_RETURN: return false
        case _:
            deferred = cause()
            failed = true
            return false
        }
    }

    // MARK: Writing

    /// Writes records until the socket is full.
    func write(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        guard bytes.count > TLSRecord.longestContent else { return writeRecords(bytes) }
        bio.beginGathering()
        let result = writeRecords(bytes)
        bio.endGathering()
        // The records may be the last ones: no later write would report that they were not sent.
        guard case .bytes = result, let failure = bio.failure else { return result }
        failed = true
        return .failed(refusal() ?? failure)
    }

    private func writeRecords(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        var total = 0
        while total < bytes.count {
            guard flush() else { break }
            var written = 0
            ERR_clear_error()
            let rest = UnsafeRawBufferPointer(rebasing: bytes[total...])
            let result = SSL_write_ex(ssl, rest.baseAddress, rest.count, &written)
            guard result == 1 else {
                let code = SSL_get_error(ssl, result)
                if [SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE, SSL_ERROR_WANT_X509_LOOKUP].contains(code) { break }
                failed = true
                return .failed(refusal() ?? cause())
            }
            total += written
        }
        if total > 0 { return .bytes(total) }
        guard let failure = bio.failure else { return .wouldBlock }
        return .failed(refusal() ?? failure)
    }

    /// The peer's reason for refusing the client. In TLS 1.3 this alert arrives after the client's handshake has ended:
    /// a write may then find the connection closed before the alert was read.
    private func refusal() -> TransportError.Cause? {
        guard decisions.clientCertificate != .notAsked, bio.failure != nil else { return nil }
        bio.socket.assumeReadable()
        ERR_clear_error()
        var byte: UInt8 = 0
        var read = 0
        SSL_peek_ex(ssl, &byte, 1, &read)
        defer { ERR_clear_error() }
        guard TLSAlert(error: ERR_peek_error()) != nil else { return nil }
        // OpenSSL does not report it again at the next read.
        deferred = tlsFailure()
        return deferred
    }

    /// Writes both buffers in one record, as far as they fit.
    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> WriteResult {
        let record = bio.socket.loop.recordBuffer
        guard first.count < record.count else {
            let result = write(first)
            guard case .bytes(first.count) = result else { return result }
            return sum(first.count, write(second))
        }
        let joined = min(second.count, record.count - first.count)
        record.copyMemory(from: first)
        UnsafeMutableRawBufferPointer(rebasing: record[first.count...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: second[..<joined]))
        let count = first.count + joined
        let result = write(UnsafeRawBufferPointer(rebasing: record[..<count]))
        guard case .bytes(count) = result, joined < second.count else { return result }
        return sum(count, write(UnsafeRawBufferPointer(rebasing: second[joined...])))
    }

    /// The result of a second write after one that took `count` bytes. The next write reports a failure.
    private func sum(_ count: Int, _ result: WriteResult) -> WriteResult {
        switch result {
        case .bytes(let more): .bytes(count + more)
        case .wouldBlock, .failed: .bytes(count)
        }
    }

    /// Sends bytes that the socket did not take. Returns `false` if some are left; the next write reports a failure.
    func flush() -> Bool { bio.flush() || bio.failure != nil }

    /// Whether there are bytes that the socket did not take.
    var hasKept: Bool { bio.hasKept || bio.carrier?.hasKept == true }

    /// The reason why bytes that counted as written will never be sent. A read reports it when there is no more input.
    var loss: TransportError.Cause? { bio.loss }

    /// Sends `close_notify`, the end of this side's data (RFC 8446 §6.1). Does not wait for the socket.
    func sendCloseNotify() {
        guard !failed, !sentCloseNotify, SSL_is_init_finished(ssl) == 1 else { return }
        sentCloseNotify = true
        ERR_clear_error()
        SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// Sends `close_notify` on this connection, and then on the one that carries it.
    func sendLastCloseNotify() {
        sendCloseNotify()
        bio.carrier?.sendLastCloseNotify()
    }

    // MARK: Sessions and information

    /// Stores a session from this connection for a later one. Takes over the reference.
    func keep(_ resumable: OpaquePointer) {
        let session = ResumableSession(owning: resumable)
        // A session of an untrusted peer is not stored, as resuming it would verify nothing. Neither is a session in
        // which the client's certificate was requested, as resuming it would repeat the earlier answer, whatever the
        // program decides now. The first decision of a family applies to all its connections.
        let isForAll = certificateFailure == nil && decisions.clientCertificate == .notAsked
        guard isForAll || family != nil, session.isResumable else { return }
        guard let family else { return context.sessions.put(session, for: sessionKey) }
        // Servers of FTP often end data connections without close_notify. That is a failure for OpenSSL, after which it does
        // not resume the connection's own session.
        family.sessions.put(session.copy ?? session, for: sessionKey)
    }

    var info: TLSInfo {
        var alpn: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &alpn, &length)
        let chosen = alpn.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(length)), as: UTF8.self) }
        let cipher = SSL_get_current_cipher(ssl)
        let name = SSL_CIPHER_standard_name(cipher).map { String(cString: $0) }
        return TLSInfo(
            protocolVersion: UInt16(truncatingIfNeeded: SSL_version(ssl)),
            cipherSuite: SSL_CIPHER_get_protocol_id(cipher), cipherSuiteName: name ?? "unknown", alpn: chosen,
            wasResumed: SSL_session_reused(ssl) == 1, peerCertificates: peerCertificates,
            certificateFailure: certificateFailure)
    }

    var peerCertificates: [Certificate] { CertificateStack.certificates(in: SSL_get_peer_cert_chain(ssl)) }
}

extension TransportError.Cause {
    static let endlessMessages = Self.handshake("the peer sends messages of TLS without end")

    /// The server has requested the client's certificate after the handshake of an HTTP/2 connection.
    fileprivate static let forbiddenQuestion = Self.handshake(
        "the server asked for the client's certificate after the handshake, which HTTP/2 does not allow (RFC 9113 §9.2.3): "
            + "it has to ask in the handshake, or to refuse the request with HTTP_1_1_REQUIRED; with "
            + "configuration.allowsHTTP2 = false it may ask at any time")
}
