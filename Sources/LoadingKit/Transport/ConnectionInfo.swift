import LoadingKitPrimitives

/// When a connection was made, step by step. A step that did not happen is nil.
package struct ConnectTimings: Sendable {
    package var resolveStart: MonotonicTime?
    package var resolveEnd: MonotonicTime?
    package var connectStart: MonotonicTime?
    package var connectEnd: MonotonicTime?
    package var tlsStart: MonotonicTime?
    package var tlsEnd: MonotonicTime?

    package init() {}
}

/// What TLS has agreed.
package struct TLSInfo: Sendable {
    /// The protocol's version on the wire, such as 0x0304.
    package let version: UInt16
    package let cipherSuite: UInt16
    package let cipherName: String
    package let alpn: String?
    package let wasResumed: Bool
    /// The certificates that the server sent, its own first, in DER.
    package let peerCertificates: [[UInt8]]
    package let subject: String
    package let issuer: String
}

/// What is known of a connection.
package struct ConnectionInfo: Sendable {
    package let localAddress: String?
    package let localPort: UInt16?
    package let remoteAddress: String?
    package let remotePort: UInt16?
    package internal(set) var tls: TLSInfo?
    package internal(set) var timings: ConnectTimings

    init(_ descriptor: Int32, _ timings: ConnectTimings) {
        let local = SystemCalls.name(of: descriptor, isPeer: false)?.text
        let remote = SystemCalls.name(of: descriptor, isPeer: true)?.text
        localAddress = local?.address
        localPort = local?.port
        remoteAddress = remote?.address
        remotePort = remote?.port
        self.timings = timings
    }
}
