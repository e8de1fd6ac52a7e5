import LoadingKitCore
import LoadingKitTransport

extension HTTP1Connection {
    var isAllSent: Bool { if case .done = writing { true } else { false } }

    /// Whether no more of the request will be sent.
    var isSendingOver: Bool {
        switch writing {
        case .done, .failed: true
        case .sending, .awaitingContinue: false
        }
    }

    var writeError: (any Error)? { if case .failed(let error) = writing { error } else { nil } }

    private var sender: RequestSender? {
        switch writing {
        case .sending(let sender), .awaitingContinue(let sender, _): sender
        case .done, .failed: nil
        }
    }

    /// Whether nothing of the request was sent, for example because its task is suspended.
    var isUnsent: Bool { sender?.sentAnything == false }

    func send(_ exchange: HTTPExchange) {
        do {
            proceed(with: try RequestSender(exchange, &codec, buffer: &headBuffer), exchange)
        } catch {
            end(with: LoadFailure(.badURL, "the request cannot be sent: \(error)"), .begun)
        }
    }

    func streamDidBecomeWritable(_ stream: ByteStream) {
        sendMore()
        if !pipeline.isEmpty { flushAhead() }
    }

    /// The task was resumed. An upgrade's bytes are sent by its ``HTTP1Tunnel``.
    func outputDidBecomeReady() { sendMore() }

    private func sendMore() {
        if case .active(let exchange) = state, case .sending(let sender) = writing { proceed(with: sender, exchange) }
    }

    /// Most requests are sent at once. Their sender is not kept.
    private func proceed(with sender: consuming RequestSender, _ exchange: HTTPExchange) {
        if exchange.holdRequest() {
            writing = .sending(sender)
            return
        }
        let (head, body, framing) = (sender.headCount, sender.bodyCount, sender.framingCount)
        // This avoids a copy of the sender when it changes.
        writing = .done
        let progress = sender.proceed(stream, &codec)
        let sent = (
            head: sender.headCount - head, body: sender.bodyCount - body, framing: sender.framingCount - framing
        )
        let sentAnything = sender.sentAnything
        if case .done = progress { headBuffer = sender.takeBuffer() } else { writing = writing(sender, progress) }
        if sent.head > 0 { exchange.didSendHead(sent.head) }
        if sent.body > 0 || sent.framing > 0 { exchange.didSendBody(sent.body, framing: sent.framing) }
        guard isActive(exchange.number) else { return }
        act(on: progress, exchange, sentAnything: sentAnything)
    }

    private func writing(_ sender: consuming RequestSender, _ progress: RequestSender.Progress) -> Writing {
        switch progress {
        case .done: return .done
        case .blocked, .needsPiece: return .sending(sender)
        case .failed(let error): return .failed(error)
        case .awaitsContinue:
            let time = loop.now.advanced(bySeconds: RequestBody.continueTimeout)
            return .awaitingContinue(sender, loop.schedule(at: time) { [weak self] in self?.sendBodyNow() })
        }
    }

    private func act(on progress: RequestSender.Progress, _ exchange: HTTPExchange, sentAnything: Bool) {
        switch progress {
        case .done:
            exchange.didSendRequest()
        case .blocked, .awaitsContinue:
            break
        case .needsPiece(let source):
            readPiece(source, exchange)
            endChunk(exchange)
        case .failed(is TransportError) where sentAnything:
            // A server may respond and close without reading all of the request. Its response counts (RFC 9112 §9.5).
            readLater()
        case .failed(let error as TransportError):
            end(with: error, .notSent)
        case .failed(let error):
            end(with: error, .begun)
        }
    }

    private func readPiece(_ source: any BodySource, _ exchange: HTTPExchange) {
        source.readPiece(for: stream) { [loop] result in
            loop.perform { [weak self] in
                guard let self, isActive(exchange.number), case .sending(var sender) = writing else { return }
                writing = .done
                do {
                    try sender.supply(result.get(), &codec)
                    proceed(with: sender, exchange)
                } catch {
                    end(with: error, .begun)
                }
            }
        }
    }

    /// Sends the end of a chunk, if the next piece is not there yet.
    private func endChunk(_ exchange: HTTPExchange) {
        guard isActive(exchange.number), case .sending(var sender) = writing else { return }
        // This avoids a copy of the sender when it changes.
        writing = .done
        if sender.endChunk() { proceed(with: sender, exchange) } else { writing = .sending(sender) }
    }

    /// The server has requested the body, or the time for this has passed.
    func sendBodyNow() {
        guard case .active(let exchange) = state, var sender, sender.isWaitingForContinue else { return }
        if case .awaitingContinue(_, let timer) = writing { timer.cancel() }
        sender.continueReceived()
        proceed(with: sender, exchange)
    }

    /// A final response has arrived instead of `100 Continue`. The server does not need the body (RFC 9110 §10.1.1).
    func stopSendingIfUnwanted() { if sender?.isWaitingForContinue == true { stopSending() } }

    func stopSending() {
        if case .awaitingContinue(_, let timer) = writing { timer.cancel() }
        writing = .done
    }
}
