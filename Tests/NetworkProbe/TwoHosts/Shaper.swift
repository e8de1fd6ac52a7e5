import CTestNetworks
import Foundation
import Glibc
import Synchronization

/// The wire between two hosts: passes packets on between two TUN devices, late, or not at all.
final class Shaper: Sendable {
    /// The wire's properties.
    struct Wire: Sendable {
        /// Of each way.
        var delay: Duration = .zero
        /// One packet of so many is lost; 0 for none.
        var lossInterval = 0
        /// Packets with more bytes are lost, without a message to the sender.
        var largestPacket = 65_536
        /// Of each way; nil for no limit.
        var bytesPerSecond: Int?
        var losesIPv6 = false
        var losesUDP = false
        /// Packets of TCP connections that were seen before this was set are lost.
        var losesKnownConnections = false
    }

    private struct State {
        var wire = Wire()
        var random = SystemRandomNumberGenerator()
        var known: Set<UInt32> = []
        var lost: Set<UInt32> = []
        var lostCount = 0
    }

    private let state = Mutex(State())

    var wire: Wire {
        get { state.withLock { $0.wire } }
        set {
            state.withLock { state in
                if newValue.losesKnownConnections, !state.wire.losesKnownConnections { state.lost = state.known }
                state.wire = newValue
            }
        }
    }

    /// The number of lost packets of known connections.
    var lostCount: Int { state.withLock { $0.lostCount } }

    /// - Parameter devices: the TUN devices' descriptors.
    init(_ devices: (Int32, Int32)) {
        start(from: devices.0, to: devices.1)
        start(from: devices.1, to: devices.0)
    }

    private func start(from source: Int32, to target: Int32) {
        let queue = PacketQueue()
        Thread.detachNewThread { [self] in
            var bytes = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(source, &bytes, bytes.count)
                guard count > 0 else { continue }
                let packet = Array(bytes[..<count])
                guard passes(packet) else { continue }
                queue.add(packet, wire)
            }
        }
        Thread.detachNewThread { while true { queue.passOn(to: target) } }
    }

    private func passes(_ packet: [UInt8]) -> Bool {
        state.withLock { state in
            let wire = state.wire
            guard packet.count <= wire.largestPacket else { return false }
            guard packet[0] >> 4 == 4, packet.count >= 24 else { return !wire.losesIPv6 }
            if packet[9] == 17, wire.losesUDP { return false }
            let ports = packet[20..<24].map(UInt32.init)
            let pair = [ports[0] << 8 | ports[1], ports[2] << 8 | ports[3]].sorted()
            let connection = pair[0] << 16 | pair[1]
            state.known.insert(connection)
            if wire.losesKnownConnections, state.lost.contains(connection) {
                state.lostCount += 1
                return false
            }
            return wire.lossInterval == 0 || Int.random(in: 0..<wire.lossInterval, using: &state.random) > 0
        }
    }
}

/// The packets that are under way in one direction.
private final class PacketQueue: @unchecked Sendable {  // the condition's lock protects the variables
    /// Packets behind so many are lost, as in a router.
    private static let limit = 1000

    private let condition = NSCondition()
    private var packets: [(due: ContinuousClock.Instant, bytes: [UInt8])] = []
    /// The time at which the packets before are sent.
    private var isFree = ContinuousClock.now

    func add(_ packet: [UInt8], _ wire: Shaper.Wire) {
        condition.lock()
        defer { condition.unlock() }
        guard packets.count < Self.limit else { return }
        let sending = wire.bytesPerSecond.map { Duration.seconds(Double(packet.count) / Double($0)) } ?? .zero
        isFree = max(isFree, .now) + sending
        packets.append((isFree + wire.delay, packet))
        condition.signal()
    }

    /// Passes on the next packet when it is due.
    func passOn(to target: Int32) {
        condition.lock()
        while packets.isEmpty { condition.wait() }
        let (due, bytes) = packets.removeFirst()
        condition.unlock()
        let left = (due - .now) / Duration.microseconds(1)
        if left > 0 { usleep(UInt32(left)) }
        _ = write(target, bytes, bytes.count)
    }
}
