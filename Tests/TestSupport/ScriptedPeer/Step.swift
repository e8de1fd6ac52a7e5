import LoadingKitLoopbackServer

extension ScriptedPeer {
    /// One thing that the peer does on a connection. A step that fails (the other side has gone) ends the script.
    package indirect enum Step: Sendable {
        // Reading
        /// Reads a request: its head up to the empty line, and the body that its fields announce. Records it.
        case expectRequest
        /// Reads a request's head alone (to answer before its body comes). Records it, with an empty body.
        case expectHead
        /// Reads the body that the last head announced. Records the request again, with it, in `requestsWithBody`.
        case expectBody
        /// Reads exactly this number of bytes.
        case expectBytes(Int)
        /// Reads up to and with these bytes.
        case expectThrough([UInt8])
        /// Reads whatever comes first, such as a ClientHello that is not to be answered as one.
        case expectAnything
        /// Reads until the other side ends the connection.
        case readUntilClose

        // Writing
        case send([UInt8])
        /// Each byte by a write of its own, so that most arrive alone.
        case sendByteByByte([UInt8])
        /// The same bytes over and over, until the other side ends the connection or the peer stops.
        case sendForever([UInt8])

        // Waiting
        /// Waits for an event that the test fires.
        case waitFor(Signal)
        /// Fires an event that the test awaits.
        case fire(Signal)
        /// Does nothing, neither reading nor writing, until the test calls `release()`.
        case hold
        /// Waits until the other side has ended the connection, without reading.
        case waitUntilPeerCloses

        // TLS
        /// Does the server's side of a handshake.
        case startTLS(TLSServerOptions)
        /// Begins a handshake: answers the ClientHello with only the first bytes of the server's answer, up to this number.
        case beginTLS(TLSServerOptions, answerBytes: Int)
        /// Asks for the client's certificate, after the handshake (RFC 8446 §4.6.2).
        case askForCertificate
        /// The same, on the TLS connection inside which the innermost one runs.
        case askForCertificateOutside
        /// Waits until the client has answered, without a certificate or with one. It sends nothing else first.
        case awaitCertificate
        /// Answers with status 200, and as the body the common name in the certificate that the client has shown, or `nobody`.
        case respondWithClient
        /// Sends close_notify only; the TCP connection stays open.
        case sendCloseNotify

        // Ending
        /// Ends the connection, in TLS with close_notify. The end of a script does the same.
        case close
        /// Ends the connection, in TLS without close_notify.
        case closeWithoutNotify
        /// Ends the connection with a reset.
        case reset
        /// Ends the sending side, in TLS after close_notify; the script goes on.
        case halfClose

        /// Does the steps again and again, until one fails.
        case forever([Step])
        /// Does the steps this number of times.
        case repeated(Int, [Step])

        package static func send(_ text: String) -> Step { .send(Array(text.utf8)) }

        package static func sendByteByByte(_ text: String) -> Step { .sendByteByByte(Array(text.utf8)) }

        package static func sendForever(_ text: String) -> Step { .sendForever(Array(text.utf8)) }

        /// Answers with status 200, this body, its length, and these further fields (`"Name: value"`).
        package static func respond(_ body: String = "", fields: [String] = []) -> Step {
            let further = fields.map { $0 + "\r\n" }.joined()
            return .send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(further)\r\n\(body)")
        }
    }
}
