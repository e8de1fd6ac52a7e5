import CLoadingKitOpenSSL
import Glibc
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKitTransport

/// Streams that are closed when all is sent.
@Suite struct ClosingTests {
    @Test(arguments: [false, true]) func bytesThatTheSocketDidNotTakeAreSent(isNested: Bool) async throws {
        // A server that speaks TLS 1.3 would send tickets, whose arrival makes the client's loop send the rest, too.
        let isClosed = Signal()
        let received = Recorder<String>()
        let options = TLSPeer.Options(maximumVersion: TLS1_2_VERSION, isNested: isNested)
        let peer = try TLSPeer(options) { connection in
            isClosed.waitBlocking()
            // The client's loop learns by them that there is room: the system itself had room all the time.
            _ = try? connection.write("dropped")
            let bytes = try? connection.readToEnd()
            received.append(bytes.map { String(decoding: $0, as: UTF8.self) } ?? "no close_notify")
        }
        defer { peer.stop() }
        let plan = FaultPlan([
            FaultPlan.Entry(.send, .nth(1), .short(10)), FaultPlan.Entry(.send, .nth(2), .fail(EAGAIN)),
        ])
        let context = try TLSTests.context()
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
            if isNested { #expect(await client.secure(context, "localhost") == nil) }
            loop.attach(plan)
            #expect(await client.write("request") == nil)
            await client.closeWhenSent()
            isClosed.fire()
            #expect(await received.element(at: 0) == "request")
        }
        #expect(plan.injectedCount == 2)
    }

    /// A peer that reads nothing more, or that does not end its side.
    @Test(arguments: [false, true]) func theSocketIsClosedInTheEnd(peerReads: Bool) async throws {
        let (time, isClosed, hasRead, gate) = (ManualTime(), Signal(), Signal(), Gate())
        let peer = try TLSPeer(TLSPeer.Options(maximumVersion: TLS1_2_VERSION)) { connection in
            if peerReads {
                isClosed.waitBlocking()
                try connection.write("dropped")
                _ = try connection.readToEnd()
                hasRead.fire()
            }
            gate.wait()
        }
        defer { peer.stop() }
        let plan = FaultPlan([
            FaultPlan.Entry(.send, .nth(1), .short(10)), FaultPlan.Entry(.send, .nth(2), .fail(EAGAIN)),
        ])
        let context = try TLSTests.context()
        await withLoop(.manual(time)) { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
            loop.attach(plan)
            #expect(await client.write("request") == nil)
            await client.closeWhenSent()
            isClosed.fire()
            if peerReads { try? await onThread { hasRead.waitBlocking() } }
            let count = await loop.run { loop.sources.count }
            #expect(count == 1)
            time.advance(by: .seconds(peerReads ? 3 : 31))
            #expect(await loop.run { loop.sources.count } == 0)
        }
        gate.open()
        #expect(peer.failures == [])
    }

    /// The loop has other turns, and the socket is closed when its time is over.
    @Test func aPeerThatSendsWithoutEndDoesNotHoldTheLoop() async throws {
        let (time, gate) = (ManualTime(), Gate())
        let peer = try Peer { connection in
            try connection.write("more")
            gate.wait()
        }
        defer {
            gate.open()
            peer.stop()
        }
        // Each read is full, as if the peer sent as fast as it is read.
        let plan = FaultPlan(.recv, .from(1), .skip)
        try await withTimeout {
            await withLoop(.manual(time)) { loop in
                let client = Client(loop)
                #expect(await client.connect(peer.endpoint) == nil)
                loop.attach(plan)
                #expect(await client.write("request") == nil)
                await client.closeWhenSent()
                await #expect(throws: Never.self) { try await waitUntil { plan.count(of: .recv) >= 100 } }
                let count = await loop.run { loop.sources.count }
                #expect(count == 1)
                time.advance(by: .seconds(3))
                #expect(await loop.run { loop.sources.count } == 0)
            }
        }
        #expect(peer.failures == [])
    }

    @Test func aStreamWhosePeerHasEndedIsClosedAtOnce() async throws {
        let received = Recorder<[UInt8]>()
        let peer = try Peer { connection in
            connection.finishWriting()
            received.append(try connection.readToEnd())
        }
        defer { peer.stop() }
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint) == nil)
            #expect(await client.readToEnd().1 == .orderly)
            #expect(await client.write("request") == nil)
            await client.closeWhenSent()
            #expect(await loop.run { loop.sources.count } == 0)
            #expect(await received.element(at: 0) == Array("request".utf8))
        }
    }
}
