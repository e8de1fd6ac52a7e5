import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

extension HTTP1Connection {
    /// A body with at least this number of bytes left is read directly into the receiver's memory.
    private static let directReadThreshold = 4096

    /// The number of reads in a row before the loop's other connections have their turn.
    private static let readsInARow = 16

    func streamDidBecomeReadable(_ stream: ByteStream) {
        // The connection has nothing to read before the program has answered, unless the server has closed it.
        withdrawIdentityQuestion()
        readMore()
    }

    func exchangeDidBecomeBusy(_ exchange: ExchangeNumber) {
        if isActive(exchange), case .flowing = reading { reading = .held(unread: []) }
    }

    func exchangeDidBecomeReady(_ exchange: ExchangeNumber) {
        guard isActive(exchange), takeHeld() else { return }
        readMore()
    }

    /// Returns false if no bytes were held back.
    private func takeHeld() -> Bool {
        guard case .held(let unread) = reading else { return false }
        reading = .flowing
        unread.withUnsafeBytes { take($0) }
        return true
    }

    /// Reads later: the caller may be inside another connection's reading, which uses `loop.scratch`.
    func readLater() { loop.execute { [weak self] in self?.readMore() } }

    private func readMore() {
        if case .draining = state { _ = takeHeld() }
        for _ in 0..<Self.readsInARow {
            guard case .flowing = reading else { return }
            switch state {
            case .active(let exchange):
                guard readOnce(for: exchange) else { return }
            case .draining:
                guard readToScratch() else { return }
            case .idle(let since):
                return readWhileIdle(since: since)
            case .closed:
                return
            }
        }
        stream.notifyInNextTurn()
    }

    /// Returns false if there is no more to read now.
    private func readOnce(for exchange: HTTPExchange) -> Bool {
        let direct = codec.directBodyBytes
        guard direct >= Self.directReadThreshold, let memory = exchange.bodyBuffer(atMost: direct) else {
            return readToScratch()
        }
        let space = UnsafeMutableRawBufferPointer(rebasing: memory.prefix(direct))
        switch stream.read(into: space) {
        case .bytes(let count):
            let isComplete = codec.didReadBody(count)
            let flow = exchange.bodyBufferFilled(count)
            guard isActive(exchange.number) else {
                if isComplete { drained() }
                return true
            }
            if isComplete { complete(exchange) } else if flow == .wait { reading = .held(unread: []) }
            return true
        case .wouldBlock: return false
        case .end: didReceiveEnd()
        case .failed(let error): didFailToReceive(error)
        }
        return false
    }

    private func readToScratch() -> Bool {
        switch stream.read(into: loop.scratch) {
        case .bytes(let count):
            if case .awaited = response { response = .begun }
            take(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count]))
            return true
        case .wouldBlock: return false
        case .end: didReceiveEnd()
        case .failed(let error): didFailToReceive(error)
        }
        return false
    }

    /// No bytes are expected on an idle connection. After any event it cannot be used again.
    private func readWhileIdle(since: MonotonicTime) {
        let result = stream.read(into: loop.scratch)
        if case .wouldBlock = result { return }
        if case .end = result { pool.serverDidCloseIdle(after: loop.now.seconds(since: since)) }
        close()
        pool.connectionDidClose(id, .lost)
    }

    /// Gives the codec bytes, and the exchange the resulting events, until either of them has to wait.
    private func take(_ bytes: UnsafeRawBufferPointer) {
        var position = 0
        do {
            while let event = try nextEvent(bytes, &position) {
                let flow = handle(event, bytes, rest: position)
                switch state {
                case .active(let exchange) where flow == .wait:
                    reading = .held(unread: Array(bytes[position...]))
                    return exchange.streamDidHold()
                case .active, .draining: continue
                case .idle, .closed: return
                }
            }
        } catch {
            end(with: error, hasResponse ? .begun : processingWithoutResponse)
        }
    }

    private func nextEvent(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> ResponseParser.Event? {
        let start = position
        let event = try codec.next(bytes, &position)
        guard case .active(let exchange) = state, position > start else { return event }
        guard hasResponse else {
            exchange.didReceiveHead(position - start)
            return event
        }
        var body = 0
        if case .body(let range)? = event { body = range.count }
        exchange.didReceiveFraming(position - start - body)
        return event
    }

    /// `rest` is the position in the bytes after the event.
    private func handle(_ event: ResponseParser.Event, _ bytes: UnsafeRawBufferPointer, rest: Int) -> Flow {
        switch state {
        case .active(let exchange):
            return deliver(event, to: exchange, bytes, rest: rest)
        case .draining(let draining):
            drop(event, draining, hasRest: rest < bytes.count)
            return .more
        case .idle, .closed:
            return .more
        }
    }

    private func deliver(
        _ event: ResponseParser.Event, to exchange: HTTPExchange, _ bytes: UnsafeRawBufferPointer, rest: Int
    ) -> Flow {
        switch event {
        case .interim(let head):
            exchange.receive(interim: head)
            if head.status == 100 { sendBodyNow() }
            return .more
        case .head(let head, let framing):
            didReceive(head, isOpenEnded: framing == .chunked || framing == .untilClose)
            stopSendingIfUnwanted()
            return exchange.receive(head, hasBody: framing != .none)
        case .body(let range):
            return exchange.receive(UnsafeRawBufferPointer(rebasing: bytes[range]))
        case .trailers(let fields):
            exchange.receive(trailers: fields)
            return .more
        case .end:
            if codec.isSwitched, let upgrade = exchange.upgrade {
                switchOver(exchange, upgrade, rest: Array(bytes[rest...]))
            } else {
                complete(exchange, hasRest: rest < bytes.count)
            }
            return .more
        }
    }

    private func drop(_ event: ResponseParser.Event, _ draining: Draining, hasRest: Bool) {
        switch event {
        case .head(let head, let framing):
            didReceive(head, isOpenEnded: framing == .chunked || framing == .untilClose)
            if codec.directBodyBytes > draining.budget { giveUpDraining() }
        case .body(let range):
            var draining = draining
            draining.budget -= range.count
            state = .draining(draining)
            if draining.budget < 0 { giveUpDraining() }
        case .end:
            drained(hasRest: hasRest)
        case .interim, .trailers:
            break
        }
    }

    private func didReceive(_ head: ResponseHead, isOpenEnded: Bool) {
        response = .head(isOpenEnded: isOpenEnded)
        keepAlive.didReceive(head)
    }

    private func didReceiveEnd() {
        do {
            if let event = try codec.finish() {
                _ = handle(event, UnsafeRawBufferPointer(start: nil, count: 0), rest: 0)
            } else {
                end(with: LoadFailure(.networkConnectionLost, "the server closed the connection"), .unknown)
            }
        } catch {
            end(with: writeError ?? error, processingWithoutResponse)
        }
    }

    private func didFailToReceive(_ error: TransportError) { end(with: writeError ?? error, processingWithoutResponse) }
}
