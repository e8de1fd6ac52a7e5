import Foundation
import Glibc
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@Suite struct NetworkTests {
    /// The probe's output in a network namespace of its own, which has nothing but a loopback, which is down at first.
    private static func probe(_ mode: String) async throws -> [String] {
        try await run(Namespaces.ofUser + ["--net", try ProgramRun.executable("NetworkProbe"), mode])
    }

    /// The output of a command that `unshare` starts.
    private static func run(_ arguments: [String]) async throws -> [String] {
        return try await onThread {
            var pipes: [Int32] = [0, 0]
            guard pipe(&pipes) == 0 else { throw POSIXError(.EMFILE) }
            let reader = FileHandle(fileDescriptor: pipes[0], closeOnDealloc: true)
            let process = try ChildProcess(
                "/usr/bin/unshare", arguments,
                streams: .init(output: pipes[1], errors: pipes[1]))
            close(pipes[1])
            let text = String(decoding: try reader.readToEnd() ?? Data(), as: UTF8.self)
            _ = process.waitForExit()
            return text.split(separator: "\n").map(String.init)
        }
    }

    static let expected: [String: [String]] = [
        "waits": ["waiting", "loaded hello"],
        "uploads": ["stream", "waiting", "loaded body"],
        "bound": ["stream", "written 4", "waiting", "loaded body"],
        "roams": ["loaded 1", "loaded 1", "closed", "loaded 2"],
        "fails": ["failed \(URLError.notConnectedToInternet.rawValue)"],
        "cellular": ["loaded hello over a network that costs"],
        "restricted": ["failed \(URLError.notConnectedToInternet.rawValue) reason 0"],
    ]

    /// Where the system lets nobody make a namespace this fails, with what `unshare` says.
    @Test(arguments: expected.keys.sorted()) func aNetworkOfItsOwn(_ mode: String) async throws {
        try await withTimeout {
            let lines = try await Self.probe(mode)
            #expect(lines == Self.expected[mode])
        }
    }

    /// A load's result and its time, over a wire with a fault.
    struct WireCase: Sendable, CustomStringConvertible {
        let scenario: String
        let versions: [String]
        let expected: [String]
        var description: String { scenario }

        init(_ scenario: String, _ expected: [String], _ versions: [String] = ["http", "https", "h2", "ftp"]) {
            (self.scenario, self.versions, self.expected) = (scenario, versions, expected)
        }
    }

    private static let timedOut = "failed \(URLError.timedOut.rawValue)"
    private static let offline = "failed \(URLError.notConnectedToInternet.rawValue)"

    static let wireCases = [
        WireCase("shortOutage", ["loaded file"]),
        WireCase("longOutage", ["\(timedOut) in time", "resumed", "waiting", "loaded file"]),
        WireCase("address", ["loaded 0", "loaded 0", "closed", "loaded 1", "loaded 1"]),
        WireCase("addressInTransfer", ["ended in time", "loaded file"]),
        WireCase("route", ["loaded 0", "\(offline) in time", "loaded file"]),
        WireCase("noRoute", ["waiting", "failed \(URLError.cancelled.rawValue)"], ["http"]),
        WireCase("largePackets", ["loaded 0", "\(timedOut) in time"], ["http", "ftp"]),
        // A certificate does not fit into such a packet.
        WireCase("largePackets", [timedOut, "\(timedOut) in time"], ["https", "h2"]),
        WireCase("far", Array(repeating: "loaded file", count: 4)),
        WireCase("farther", Array(repeating: "loaded file", count: 4)),
        WireCase("ipv6", ["loaded in time"]),
        WireCase("silentNames", ["loaded 0", "loaded 0", "loaded 0", "\(timedOut) in time"]),
        WireCase("silentConnection", ["loaded 0", "loaded 1 in time"], ["h2"]),
    ]

    @Test(
        .enabled(if: access("/dev/net/tun", R_OK | W_OK) == 0, "/dev/net/tun cannot be opened, which joins two hosts"),
        arguments: wireCases)
    func twoHosts(_ test: WireCase) async throws {
        let folder = try TemporaryFolder()
        try folder.write("nameserver 10.9.0.53\n", to: "resolv.conf")
        try folder.write("127.0.0.1 localhost\nfd09::2 both.example\n10.9.0.2 both.example\n", to: "hosts")
        let script = """
            for name in resolv.conf hosts; do mount --bind "$1/$name" /etc/$name || exit; done
            TMPDIR="$1" exec "$2" hosts "$3" "$4"
            """
        let probe = try ProgramRun.executable("NetworkProbe")
        try await withTimeout(seconds: 240) {
            for version in test.versions {
                let lines = try await Self.run(
                    Namespaces.ofMounts + [
                        "--net", "/bin/sh", "-c", script, "sh", folder.file("").path, probe, test.scenario, version,
                    ])
                #expect(lines == test.expected, "\(version)")
            }
        }
    }

    /// The probe's output with a name server of its own.
    private static func names(_ settings: String) async throws -> [String] {
        let folder = try TemporaryFolder()
        try folder.write("nameserver 127.0.0.1\n\(settings)\n", to: "resolv.conf")
        let command = "mount --bind \"$1\" /etc/resolv.conf && exec \"$2\" names"
        let probe = try ProgramRun.executable("NetworkProbe")
        return try await run(
            Namespaces.ofMounts + [
                "--net", "/bin/sh", "-c", command, "sh", folder.file("resolv.conf").path, probe,
            ])
    }

    @Test func namesThatTheNameServerHasValidatedAreLoaded() async throws {
        try await withTimeout {
            let refused = URLError.dnsLookupFailed.rawValue
            let (offline, proxied) = (
                URLError.notConnectedToInternet.rawValue, "signed.example failed \(refused) by a proxy"
            )
            let lines = try await Self.names("options trust-ad")
            #expect(
                lines == [
                    "signed.example loaded hello", "SIGNED.example. loaded hello", "alias.example loaded hello",
                    "unsigned.example failed \(refused) not validated its answer", "bogus.example failed \(offline)",
                    "missing.example failed \(offline)", "broken.example failed \(offline)",
                    "many.example loaded hello",
                    "127.0.0.1 loaded hello", "localhost loaded hello",
                    "stream to signed.example is open", "stream to unsigned.example failed \(refused)", proxied,
                ])
        }
    }

    @Test func withoutTheSystemsTrustNoNameIsValid() async throws {
        try await withTimeout {
            let lines = try await Self.names("")
            #expect(lines.first == "signed.example failed \(URLError.dnsLookupFailed.rawValue) trust-ad")
            #expect(lines.filter { $0.hasSuffix("loaded hello") }.count == 2)
        }
    }

    @Test func packetsAreMarkedForTheirService() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        try await withTimeout {
            let url = try #require(URL(string: server.url("/")))
            let port = try #require(url.port)
            for (type, mark) in [
                (URLRequest.NetworkServiceType.default, Int32(0)), (.background, 8), (.responsiveData, 18),
                (.avStreaming, 26), (.video, 34), (.voip, 40), (.voice, 46),
            ] {
                let session = makeSession { if type != .voice { $0.networkServiceType = type } }
                var request = URLRequest(url: url)
                // Of a single request, too: it has a connection of its own.
                if type == .voice {
                    _ = try await session.data(for: request)
                    request.networkServiceType = .voice
                }
                let recorder = TransferRecorder()
                _ = try await session.data(for: request, delegate: recorder)
                let value = await Self.option(Int32(IPPROTO_IP), IP_TOS, ofSocketFor: recorder, to: port)
                #expect(value == mark << 2, "\(type)")
                session.invalidateAndCancel()
                _ = await session.allTasks
            }
        }
    }

    /// A server that is gone is found also while its response is quiet.
    @Test func quietConnectionsAreChecked() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        try await withTimeout {
            let url = try #require(URL(string: server.url("/")))
            let port = try #require(url.port)
            // Its idle connections are not closed for those of other tests.
            let loop = EventLoop(name: "quiet", idleConnections: IdleConnections(limit: 8))
            defer { loop.stop() }
            let session = makeSession(on: loop)
            defer { session.invalidateAndCancel() }
            let recorder = TransferRecorder()
            _ = try await session.data(for: URLRequest(url: url), delegate: recorder)
            for (level, name, value) in [
                (SOL_SOCKET, SO_KEEPALIVE, Int32(1)), (Int32(IPPROTO_TCP), TCP_KEEPIDLE, 60),
                (Int32(IPPROTO_TCP), TCP_KEEPINTVL, 60),
            ] {
                let found = await Self.option(level, name, ofSocketFor: recorder, to: port)
                #expect(found == value, "\(name)")
            }
        }
    }

    /// An option of this process's socket to a port over which the recorder's task was loaded.
    private static func option(
        _ level: Int32, _ name: Int32, ofSocketFor recorder: TransferRecorder, to remote: Int
    ) async -> Int32? {
        let metrics = await recorder.metrics.element(at: 0)
        let local = metrics?.transactionMetrics.last?.localPort.flatMap { Int($0) }
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let ours = descriptors.compactMap { Int32($0) }.first {
            port(of: $0, getsockname) == local && port(of: $0, getpeername) == remote
        }
        guard let ours else { return nil }
        var (value, size) = (Int32(-1), socklen_t(MemoryLayout<Int32>.size))
        getsockopt(ours, level, name, &value, &size)
        return value
    }

    private static func port(
        of descriptor: Int32,
        _ name: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> Int? {
        var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        let found = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(descriptor, $0, &length) }
        }
        return found == 0 ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }
}
