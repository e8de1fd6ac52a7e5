import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// Moves the body's bytes to the data connection.
extension FTPLoad {
    func dataDidBecomeWritable() { sendData() }

    func sendData() {
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

    /// What the server has to say of a data connection that it has closed comes at once, if it comes.
    private func waitForReason() {
        let timer = loop.schedule(at: loop.now.advanced(bySeconds: 1)) { [weak self] in
            guard let self, let error = sendError, connection != nil else { return }
            fail(error)
        }
        reasonTimer = timer
    }

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
}
