import CLoadingKitOpenSSL
import Glibc
import LoadingKitTransport
import TestSupport
import Testing

/// Servers that send messages of TLS without end. OpenSSL processes them as long as they arrive.
@Suite struct EndlessTLSTests {
    enum Message: CaseIterable, Sendable {
        case ticket, keyUpdate
    }

    /// - Parameter hasData: whether a byte of application data is sent behind each message.
    @Test(arguments: Message.allCases, [false, true])
    func theConnectionFails(message: Message, hasData: Bool) async throws {
        let peer = try TLSPeer { connection in
            // OpenSSL may go on for long after the client has closed the connection.
            for _ in 0..<20_000 where connection.send(message) { if hasData { try connection.write("x") } }
        }
        defer { peer.stop() }
        let context = try TLSTests.context()
        try await withTimeout {
            await withLoop { loop in
                let client = Client(loop)
                #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
                let (_, end) = await client.readToEnd()
                #expect(end == .failed(.handshake("the peer sends messages of TLS without end")))
                await client.close()
            }
        }
    }

    /// A server may change its keys often, and send many tickets, with its data.
    @Test func messagesBetweenDataAreAccepted() async throws {
        let (part, count) = ([UInt8](repeating: 1, count: 65_536), 1200)
        let peer = try TLSPeer { connection in
            for _ in 0..<count {
                _ = connection.send(.keyUpdate)
                try connection.write(part)
            }
            connection.finishWriting()
            _ = try? connection.readToEnd()
        }
        defer { peer.stop() }
        let context = try TLSTests.context()
        try await withTimeout {
            await withLoop { loop in
                let client = Client(loop)
                #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
                #expect(await client.countToEnd() == part.count * count)
                await client.close()
            }
        }
        #expect(peer.failures == [])
    }

    /// OpenSSL ignores each HelloRequest during a handshake (RFC 5246 §7.4.1.1).
    @Test func aHandshakeWithoutEndFails() async throws {
        let record: [UInt8] = [22, 3, 3, 0x40, 0] + [UInt8](repeating: 0, count: 16_384)
        let peer = try Peer { connection in
            try connection.waitForBytes()
            while true { try connection.write(record) }
        }
        defer { peer.stop() }
        let context = try TLSTests.context()
        try await withTimeout {
            await withLoop { loop in
                let error = await Client(loop).connect(peer.endpoint, tls: (context, "localhost"))
                #expect(error?.cause == .handshake("the peer sends messages of TLS without end"))
            }
        }
    }
}

extension TLSPeerConnection {
    /// Returns whether the message was sent.
    fileprivate func send(_ message: EndlessTLSTests.Message) -> Bool {
        let isMade =
            switch message {
            case .ticket: SSL_new_session_ticket(ssl)
            case .keyUpdate: SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED)
            }
        return isMade == 1 && SSL_do_handshake(ssl) == 1
    }
}

extension Client {
    /// The number of bytes up to an orderly end; nil if the end is another one.
    fileprivate func countToEnd() async -> Int? {
        var total = 0
        while true {
            switch readNow() {
            case .bytes(let count): total += count
            case .wouldBlock: await waitUntilReadable()
            case .end: return total
            case .failed: return nil
            }
        }
    }
}
