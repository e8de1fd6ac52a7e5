import LoadingKitLoopbackServer

/// A scripted peer's record of one connection.
package struct RecordedConnection: Sendable, Equatable {
    /// How the script came to its end.
    package enum Ending: Sendable, Equatable {
        /// The connection is open.
        case open
        /// All steps were done, and the peer closed.
        case scriptDone
        /// The other side ended the connection while a step wanted to read; in TLS, with or without close_notify.
        case closedByOther(withCloseNotify: Bool)
        /// A step failed, with this text: a handshake, or writing to a connection that the other side has reset.
        case failed(String)
        /// The test stopped the peer.
        case stopped
    }

    package var number: Int
    /// Every byte that was read, after decryption.
    package var received: [UInt8] = []
    /// The result of the last handshake.
    package var tls: TLSFacts?
    package var ending = Ending.open

    package var receivedText: String { String(decoding: received, as: UTF8.self) }
}
