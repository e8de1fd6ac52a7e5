import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives

extension HTTPExchange {
    func receive(interim head: ResponseHead) {
        // The final response has not begun.
        transaction.timings.responseStart = nil
        didReceive(headToObserve: head)
        if head.status == 104 { replays.hasUploadBegun = true }
        receiver?.receive(informational: HTTPURLResponse(head, to: request))
    }

    func receive(_ head: ResponseHead, hasBody: Bool) -> Flow {
        guard case .active(let stream) = state else { return .wait }
        headDidBegin()
        note(.responded(status: UInt16(truncatingIfNeeded: head.status)))
        didReceive(headToObserve: head)
        storeCookies(of: head)
        if resources.task.hasProgramsHandler, isPersonal(head) { resources.task.isPersonal = true }
        if head.fields.contains(.strictTransportSecurity), !transaction.isServerUntrusted, let target {
            HSTS.note(head, from: target.origin, in: session.settings)
        }
        if head.status == 417, transaction.expectsContinue, body.isReplayable {
            refuseExpectation()
            return sendAgain(.expectationRefused, after: head, stream)
        }
        if head.status == 408, stream.isExclusive, body.isReplayable, let processing = processingBeforeTimeout,
            mayReplay(processing)
        {
            replays.count(processing)
            return sendAgain(.notProcessed, after: head, stream)
        }
        do {
            if head.status == 101, switching == .never { throw LoadFailure.switchedUnasked }
            if try holdForAuthentication(head, stream, hasBody: hasBody) { return .wait }
            if let upgrade, stream.grantsUpgrade(head) {
                try upgrade.serverDidGrant(head)
                return deliver(head, hasBody: hasBody)
            }
            guard
                let redirect = try Redirect(
                    status: head.status, head.fields, of: request, in: session.settings, mayUpgrade: upgrade != nil)
            else {
                return deliver(head, hasBody: hasBody)
            }
            state = .redirecting(stream, head)
            follow(redirect, response: HTTPURLResponse(head, to: request), hasBody: hasBody)
        } catch {
            fail(error)
        }
        return .wait
    }

    /// Whether the response may be for one user: there are credentials, or it sets a cookie.
    private func isPersonal(_ head: ResponseHead) -> Bool {
        let fields = transaction.fields
        return fields.contains(.authorization) || fields.contains(.cookie) || head.fields.contains(.setCookie)
            || !session.authentication.isEmpty
    }

    /// Whether the server may have processed a request to which it responds with status 408; nil if the response may
    /// be for this request.
    private var processingBeforeTimeout: StreamFailure.Processing? {
        if transaction.timings.requestHeaderBytesSent == 0 { return .notSent }
        return transaction.timings.isReusedConnection ? .unknown : nil
    }

    /// Status 417: the server does not support `Expect` (RFC 9110 §15.5.18). Status 408 on a connection that was used
    /// before, or before a suspended task has sent anything: the server has closed the connection as idle, before the
    /// request arrived (§15.5.9).
    private func sendAgain(_ reason: RetryReason, after head: ResponseHead, _ stream: any HTTPStream) -> Flow {
        if let failure = cleartextFailure {
            fail(failure)
            return .wait
        }
        note(.retried(reason))
        endTransaction(after: HTTPURLResponse(head, to: request))
        stream.abandon(number)
        submit(needsFreshConnection: true)
        return .wait
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow {
        guard let receiver else { return .wait }
        if transaction.isBodyPlain {
            transaction.didReceivePlainBody(bytes.count)
            return receiver.receive(bytes)
        }
        transaction.didReceiveBody(bytes)
        guard let decoding = transaction.decoding else { return deliver(decoded: bytes) }
        if decoding.isOfContentAlone { receiver.receive(coded: bytes) }
        let flow = decode(bytes, by: decoding)
        if transaction.isDecodingOn { self.receiver?.noteActivity() }
        return flow
    }

    /// The receiver's memory for the body; nil if the body must pass through the decoder or the check.
    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? {
        transaction.isBodyPlain ? receiver?.bodyBuffer(atMost: count) : nil
    }

    func bodyBufferFilled(_ count: Int) -> Flow {
        transaction.didReceivePlainBody(count)
        return receiver?.bodyBufferFilled(count) ?? .wait
    }

    func headDidBegin() { transaction.timings.beginResponse(at: loop.now) }

    /// - Parameter count: the number of bytes of a head, or of a part of it.
    func didReceiveHead(_ count: Int) {
        headDidBegin()
        transaction.timings.responseHeaderBytesReceived += Int64(count)
    }

    func didReceiveFraming(_ count: Int) { transaction.didReceiveFraming(count) }

    func receive(trailers: HTTPFields) {
        transaction.didReceive(trailers: trailers)
        guard let check = transaction.bodyCheck else { return }
        if let proof = authentication.server.handshake?.information(trailers) { check.noteTrailers(proof) }
    }

    /// The response is complete, and the stream has released this exchange.
    func ended() {
        transaction.timings.endResponse(at: loop.now)
        if transaction.hasDecodedPending { state = .ended } else { finish() }
    }

    /// The stream has failed and has released this exchange.
    func failed(_ failure: StreamFailure) {
        guard receiver != nil else { return }
        if case .challenged(var waiting) = state {
            // The request may still be sent again when the program has found a credential.
            waiting.lose(failure.error)
            state = .challenged(waiting)
        } else if mayReplay(failure) {
            replay(after: failure)
        } else {
            fail(failure.error)
        }
    }

    // MARK: The response

    func deliver(_ head: ResponseHead, hasBody: Bool) -> Flow {
        guard let receiver else { return .wait }
        if upgrade == nil, hasBody || method == "HEAD" {
            do throws(LoadFailure) {
                try transaction.willDecode(
                    head, hasBody: hasBody, keepsCodings: resources.core.keepsContentCodings(of: request),
                    ratio: session.settings.maximumDecompressionRatio,
                    buffer: session.decodeBuffer)
            } catch {
                fail(error)
                return .wait
            }
        }
        let response = HTTPURLResponse(head, to: request, isCoded: transaction.decoding != nil)
        transaction.didReceive(response)
        return receiver.receive(response)
    }

    private func follow(_ redirect: Redirect, response: HTTPURLResponse, hasBody: Bool) {
        transaction.didReceive(response)
        receiver?.redirect(to: redirect.request, refusal: redirect.refusal, response: response) { [weak self] follows in
            guard let self, !follows, case .redirecting(let stream, let head) = state else { return }
            state = .active(stream)
            if deliver(head, hasBody: hasBody) == .more { stream.exchangeDidBecomeReady(number) }
        }
    }

    // MARK: Decoding

    /// The parameter retains the decoder: the receiver may end this exchange, and its transaction, during a delivery.
    private func decode(_ bytes: UnsafeRawBufferPointer, by decoding: BodyDecoding) -> Flow {
        var position = 0
        do {
            while let piece = try decoding.next(bytes, &position) {
                guard deliver(decoded: piece) == .wait else { continue }
                decoding.hold(bytes[position...])
                return .wait
            }
            return .more
        } catch {
            fail(error)
            return .wait
        }
    }

    func decodePending() -> Flow {
        guard let decoding = transaction.decoding else { return .more }
        do {
            while let piece = try decoding.nextOfHeld() {
                if deliver(decoded: piece) == .wait { return .wait }
            }
            return .more
        } catch {
            fail(error)
            return .wait
        }
    }

    private func deliver(decoded bytes: UnsafeRawBufferPointer) -> Flow {
        transaction.didDeliver(bytes.count)
        return receiver?.receive(bytes) ?? .wait
    }

    // MARK: The end

    func finish() {
        guard let receiver else { return }
        do {
            if !transaction.isBodyPlain { try transaction.finish() }
            state = .over
            reportTransaction()
            receiver.finish()
        } catch {
            fail(error)
        }
    }

    /// Notifies the receiver, which ends this exchange. The exchange's stream is released then.
    func fail(_ error: any Error) {
        guard let receiver else { return }
        reportTransaction()
        receiver.fail(error)
    }

    /// Gives the connection to the program. Its bytes are not part of the response from now on.
    func takeConnection() throws -> TakenConnection? {
        guard switching == .inHTTP1, case .active(let stream) = state else { return nil }
        let end = method == "CONNECT" ? try tunnelEnd() : target?.origin
        guard var connection = try stream.takeConnection(from: number) else { return nil }
        if let end { (connection.host, connection.port) = (end.host, Int(end.port)) }
        transaction.timings.endResponse(at: loop.now)
        state = .over
        reportTransaction()
        return connection
    }

    private func tunnelEnd() throws(LoadFailure) -> Origin {
        guard let url = URL(string: "https://\(requestTarget)") else {
            throw LoadFailure(.badURL, "\(requestTarget) is not a host and port to connect to")
        }
        return try RequestTarget(url).origin
    }

    func outputDidBecomeReady() { if case .active(let stream) = state { stream.outputDidBecomeReady() } }
}

extension LoadFailure {
    fileprivate static var switchedUnasked: LoadFailure {
        LoadFailure(
            .badServerResponse, "the server switched to another protocol (101), which the request did not ask for")
    }
}
