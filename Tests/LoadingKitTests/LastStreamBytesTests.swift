import Foundation
import Glibc
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// The last bytes of a stream task, which have not left the machine when the task ends, and those of its peer.
@Suite struct LastStreamBytesTests {
    /// Two TLS records, of which the second one stays.
    private static let bytes = [UInt8](repeating: 7, count: 30_000)

    /// TLS has taken them, and the socket has not.
    @Test(arguments: [false, true]) func theyReachThePeer(isCaptured: Bool) async throws {
        let authority = try CertificateAuthority()
        let isClosed = Signal()
        // The client's loop learns by the second byte that there is room: the system itself had room all the time.
        let peer = try ScriptedPeer([
            .startTLS(TLSServerOptions(try authority.issue())), .send("!"), .waitFor(isClosed), .send("?"),
            .expectBytes(Self.bytes.count), .expectBytes(1),
        ])
        defer { peer.stop() }
        let loop = EventLoop(name: "streams", idleConnections: IdleConnections(limit: 8))
        defer { loop.stop() }
        let plan = FaultPlan([.init(.send, .nth(1), .short(20_000)), .init(.send, .nth(2), .fail(EAGAIN))])
        try await withTimeout {
            let ends = StreamEnds()
            let session = Self.makeSession(ends, authority, on: loop)
            defer { session.invalidateAndCancel() }
            let task = session.streamTask(withHostName: "localhost", port: Int(try #require(peer.address.port)))
            task.resume()
            task.startSecureConnection()
            let (greeting, _) = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
            #expect(greeting == Data("!".utf8))
            loop.attach(plan)
            if isCaptured {
                task.captureStreams()
                let streams = try #require(await ends.streams.element(at: 0))
                let count = try await onThread { Self.send(streams.value) }
                #expect(count == Self.bytes.count)
                // Behind the closing of the streams.
                await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                    loop.execute { continuation.resume() }
                }
            } else {
                try await task.write(Data(Self.bytes), timeout: 0)
                task.closeRead()
                task.closeWrite()
                #expect(await ends.errors.element(at: 0) == 0)
            }
            isClosed.fire()
            let connection = try #require(await peer.endedCount(reaches: 1).first)
            #expect(connection.received.count == Self.bytes.count)
            #expect(connection.ending == .closedByOther(withCloseNotify: true))
            #expect(plan.injectedCount == 2)
        }
    }

    /// The program has not read the greeting of the peer, or TLS its tickets. The peer reads when the task has ended: more
    /// bytes than its socket holds.
    @Test(arguments: [false, true]) func unreadBytesDoNotResetTheConnection(isSecure: Bool) async throws {
        let authority = try CertificateAuthority()
        let (hasSent, isClosed, count) = (Signal(), Signal(), 150_000)
        let peer = try ScriptedPeer([
            isSecure ? .startTLS(TLSServerOptions(try authority.issue())) : .send("greeting"), .fire(hasSent),
            .waitFor(isClosed), .expectBytes(count), .expectBytes(1),
        ])
        defer { peer.stop() }
        try await withTimeout {
            let ends = StreamEnds()
            let session = Self.makeSession(ends, authority)
            defer { session.invalidateAndCancel() }
            let task = session.streamTask(withHostName: "localhost", port: Int(try #require(peer.address.port)))
            task.resume()
            if isSecure { task.startSecureConnection() }
            try await task.write(Data(count: count), timeout: 0)
            await hasSent.wait()
            task.closeRead()
            task.closeWrite()
            #expect(await ends.errors.element(at: 0) == 0)
            isClosed.fire()
            let connection = try #require(await peer.endedCount(reaches: 1).first)
            #expect(connection.received.count == count)
            #expect(connection.ending == .closedByOther(withCloseNotify: isSecure))
        }
    }

    private static func makeSession(
        _ ends: StreamEnds, _ authority: CertificateAuthority, on loop: EventLoop = .next()
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.tlsTrustRoots = .pem(authority.certificatePEM)
        return URLSession(configuration: configuration, delegate: ends, delegateQueue: nil, loop: loop)
    }

    /// A write fails, as when the peer has closed the connection, while bytes of the peer are still to be read: more than
    /// the pump moves before it writes.
    @Test func theyComeBeforeTheErrorOfAFailedWrite() async throws {
        let sent = 4_000_000
        let peer = try ScriptedPeer([.send("!"), .send([UInt8](repeating: 7, count: sent)), .close])
        defer { peer.stop() }
        let loop = EventLoop(name: "streams", idleConnections: IdleConnections(limit: 8))
        defer { loop.stop() }
        let plan = FaultPlan(.send, .nth(1), .fail(EPIPE))
        try await withTimeout {
            let ends = StreamEnds()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = [:]
            let session = URLSession(configuration: configuration, delegate: ends, delegateQueue: nil, loop: loop)
            defer { session.invalidateAndCancel() }
            let task = session.streamTask(
                withHostName: peer.address.host, port: Int(try #require(peer.address.port)))
            task.resume()
            let (greeting, _) = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
            #expect(greeting == Data("!".utf8))
            loop.attach(plan)
            task.captureStreams()
            let streams = try #require(await ends.streams.element(at: 0))
            let (count, last, error) = try await onThread { Self.receive(streams.value) }
            #expect(count == sent && last == -1 && error is URLError)
            #expect(plan.injectedCount == 1)
        }
    }

    /// Writes a byte, and reads everything. Returns the number of bytes, and the last result of a read with its error.
    private static func receive(_ streams: (InputStream, OutputStream)) -> (Int, Int, (any Error)?) {
        let (input, output) = streams
        input.open()
        output.open()
        defer {
            output.close()
            input.close()
        }
        _ = output.write([1], maxLength: 1)
        var buffer = [UInt8](repeating: 0, count: 10_000)
        var count = 0
        while true {
            let result = input.read(&buffer, maxLength: 10_000)
            guard result > 0 else { return (count, result, input.streamError) }
            count += result
        }
    }

    private static func send(_ streams: (InputStream, OutputStream)) -> Int {
        let (input, output) = streams
        input.open()
        output.open()
        defer {
            output.close()
            input.close()
        }
        return output.write(bytes, maxLength: bytes.count)
    }
}

private final class StreamEnds: NSObject, URLSessionStreamDelegate {
    /// The codes of the tasks' errors; 0 for none.
    let errors = Recorder<Int>()
    let streams = Recorder<LoopTransfer<(InputStream, OutputStream)>>()

    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        streams.append(LoopTransfer((inputStream, outputStream)))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        errors.append((error as? URLError)?.code.rawValue ?? 0)
    }
}
