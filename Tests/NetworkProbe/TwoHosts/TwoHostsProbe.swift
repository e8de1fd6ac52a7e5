import CTestNetworks
import Foundation
import Glibc
import LoadingKit

/// Loads from a server on another host, over a wire with faults. The hosts are network namespaces, joined by a shaper.
struct TwoHostsProbe {
    static let scenarios: [String: @Sendable (TwoHostsProbe) async -> Void] = [
        "shortOutage": { await $0.shortOutage() }, "longOutage": { await $0.longOutage() },
        "address": { await $0.changeAddress() }, "addressInTransfer": { await $0.changeAddressInTransfer() },
        "route": { await $0.loseRoute() }, "noRoute": { await $0.waitForNameServer() },
        "largePackets": { await $0.loseLargePackets() },
        "far": { await $0.loadFrom(far: 25) }, "farther": { await $0.loadFrom(far: 100) },
        "ipv6": { await $0.loseIPv6() }, "silentNames": { await $0.loseNameServer() },
        "silentConnection": { await $0.loseConnection() },
    ]
    /// The time-out of requests, in seconds.
    private static let timeout = 4.0

    private let server: ServerHost
    private let shaper: Shaper
    private let session: URLSession

    static func run(_ scenario: String, _ version: String) async {
        guard let run = scenarios[scenario] else { return print("no scenario") }
        do {
            await run(try TwoHostsProbe(version))
        } catch {
            print("no hosts: \(error)")
        }
    }

    private init(_ version: String) throws {
        server = try ServerHost(version)
        NetworkProbe.check(lk_test_bring_up("lo"), "bring up")
        let device = lk_test_open_tun("wire")
        guard device >= 0 else { throw POSIXError(.init(rawValue: -device) ?? .EIO) }
        NetworkProbe.check(lk_test_set_wire_address("wire", NetworkProbe.address(10, 9, 0, 1)), "set address")
        NetworkProbe.check(lk_test_bring_up("wire"), "bring up")
        _ = lk_test_add_ipv6("wire", "fd09::1")
        shaper = Shaper((device, server.device))
        session = Self.session(server)
    }

    private static func session(
        _ server: ServerHost, waits: Bool = false, timeout: Double = Self.timeout
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.appTransportSecurity.allowsArbitraryLoads = true
        configuration.tlsTrustRoots = .pem(server.certificate)
        configuration.timeoutIntervalForRequest = timeout
        configuration.waitsForConnectivity = waits
        configuration.urlCache = nil
        return URLSession(configuration: configuration)
    }

    // MARK: Scenarios

    /// The link is down for a second in the middle of a transfer, which goes on.
    private func shortOutage() async {
        shaper.wire.bytesPerSecond = 500_000
        let receiver = Receiver {
            NetworkProbe.check(lk_test_bring_down("wire"), "bring down")
            Thread.detachNewThread {
                usleep(1_000_000)
                Self.bringUp()
            }
        }
        print(await receiver.load(url("file"), Self.session(server, timeout: 30)))
    }

    /// The link stays down: the transfer fails by its time-out, and is resumed when a network is there again.
    private func longOutage() async {
        shaper.wire.bytesPerSecond = 500_000
        let receiver = Receiver { NetworkProbe.check(lk_test_bring_down("wire"), "bring down") }
        let start = ContinuousClock.now
        let task = session.downloadTask(with: url("file"))
        let result = await receiver.run(task)
        print(result, ContinuousClock.now - start < .seconds(4 * Self.timeout) ? "in time" : "late")
        let waiting = Self.session(server, waits: true)
        let resumed = receiver.resumeData.map { waiting.downloadTask(withResumeData: $0) }
        print(resumed == nil ? "from its start" : "resumed")
        let receiverOfRest = Receiver(whenWaiting: { Self.bringUp() })
        print(await receiverOfRest.run(resumed ?? waiting.downloadTask(with: url("file"))))
    }

    /// The client gets another address while its connection is idle.
    private func changeAddress() async {
        for _ in 0..<2 { print(await load("connection")) }
        NetworkProbe.check(lk_test_set_wire_address("wire", NetworkProbe.address(10, 9, 0, 3)), "set address")
        while await isConnected { await Task.yield() }
        print("closed")
        for _ in 0..<2 { print(await load("connection")) }
    }

    /// The client gets another address in the middle of a transfer. The transfer ends, and the next load succeeds.
    private func changeAddressInTransfer() async {
        shaper.wire.bytesPerSecond = 2_000_000
        let receiver = Receiver {
            NetworkProbe.check(lk_test_set_wire_address("wire", NetworkProbe.address(10, 9, 0, 3)), "set address")
        }
        let start = ContinuousClock.now
        let result = await receiver.load(url("file"), session)
        let isBounded = ContinuousClock.now - start < .seconds(4 * Self.timeout)
        print(result == "loaded file" || result.hasPrefix("failed") ? "ended" : result, isBounded ? "in time" : "late")
        print(await load("file"))
    }

    /// There is no route while the connection is idle: it is left, and loads fail at once.
    private func loseRoute() async {
        print(await load("connection"))
        NetworkProbe.check(lk_test_remove_route("wire", NetworkProbe.address(10, 0, 0, 0)), "remove route")
        while await isConnected { await Task.yield() }
        let start = ContinuousClock.now
        print(await load("connection"), ContinuousClock.now - start < .seconds(1.5 * Self.timeout) ? "in time" : "late")
        NetworkProbe.check(lk_test_add_route("wire", NetworkProbe.address(10, 0, 0, 0)), "add route")
        print(await load("file"))
    }

    /// There is an address, as of a bridge to containers, and no route to the name server: a task waits for one.
    private func waitForNameServer() async {
        NetworkProbe.check(lk_test_remove_route("wire", NetworkProbe.address(10, 0, 0, 0)), "remove route")
        guard let url = URL(string: "http://missing.example/") else { return }
        let task = Self.session(server, waits: true, timeout: 60).dataTask(with: url)
        print(await Receiver(whenWaiting: { task.cancel() }).run(task))
    }

    /// Packets of the usual size are lost, without a message to the sender.
    private func loseLargePackets() async {
        shaper.wire.largestPacket = 600
        print(await load("connection"))
        let start = ContinuousClock.now
        let result = await load("file")
        print(result, ContinuousClock.now - start < .seconds(4 * Self.timeout) ? "in time" : "late")
    }

    private func loadFrom(far milliseconds: Int) async {
        shaper.wire.delay = .milliseconds(milliseconds / 2)
        shaper.wire.lossInterval = 100
        let session = Self.session(server, timeout: 60)
        await withTaskGroup(of: String.self) { group in
            for _ in 0..<4 { group.addTask { await Receiver().load(url("file"), session) } }
            for await line in group { print(line) }
        }
    }

    /// A name has addresses of both families, and packets of IPv6 are lost.
    private func loseIPv6() async {
        shaper.wire.losesIPv6 = true
        var (result, fastest) = ("", Duration.seconds(60))
        // Other tests run meanwhile: the fastest of some counts.
        for _ in 0..<5 {
            let start = ContinuousClock.now
            result = await Receiver().load(url("connection", host: "both.example"), Self.session(server))
            fastest = min(fastest, ContinuousClock.now - start)
        }
        // An attempt of IPv4 begins after 250 ms.
        print(result.hasPrefix("loaded") ? "loaded" : result, fastest < .milliseconds(700) ? "in time" : "late")
    }

    /// Loads of names fail by their time-out, and meanwhile loads of addresses go on.
    private func loseNameServer() async {
        shaper.wire.losesUDP = true
        async let named = load("connection", host: "name.example")
        for _ in 0..<3 { print(await load("connection")) }
        let start = ContinuousClock.now
        print(await named, ContinuousClock.now - start < .seconds(2 * Self.timeout) ? "in time" : "late")
    }

    /// After a change of the networks nothing of the old connection arrives any more, as behind a new router.
    private func loseConnection() async {
        let session = Self.session(server, timeout: 30)
        print(await Receiver().load(url("connection"), session))
        shaper.wire.losesKnownConnections = true
        NetworkProbe.check(lk_test_set_address("lo:1", NetworkProbe.address(192, 168, 8, 1)), "set address")
        // The session checks the connection.
        while shaper.lostCount == 0 { await Task.yield() }
        let start = ContinuousClock.now
        let result = await Receiver().load(url("connection"), session)
        // An answer to a PING is awaited for five seconds.
        print(result, ContinuousClock.now - start < .seconds(15) ? "in time" : "late")
    }

    // MARK: Loads

    private static func bringUp() {
        NetworkProbe.check(lk_test_bring_up("wire"), "bring up")
    }

    private func url(_ path: String, host: String? = nil) -> URL {
        var parts = URLComponents(url: server.url.appendingPathComponent(path), resolvingAgainstBaseURL: true)
        if let host { parts?.host = host }
        return parts?.url ?? server.url
    }

    private var isConnected: Bool {
        get async { await session.statistics.connections.open.values.contains { $0.active + $0.idle > 0 } }
    }

    private func load(_ path: String, host: String? = nil) async -> String {
        await Receiver().load(url(path, host: host), session)
    }
}
