import Foundation
import Glibc
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization
import TestSupport
import Testing

@Suite struct ConnectTests {
    /// A socket at whose port nobody listens, as long as it is held.
    private func deafSocket() throws -> (socket: ListeningSocket, port: UInt16) {
        let socket = try ListeningSocket(.ipv4())
        socket.shutDown()
        return (socket, try #require(socket.address.port))
    }

    @Test func refusedTellsEachAddress() async throws {
        let (socket, port) = try deafSocket()
        defer { withExtendedLifetime(socket) {} }
        await withLoop { loop in
            let client = Client(loop)
            let error = await client.connect(.tcp(host: "localhost", port: port))
            #expect(error?.phase == .connect && error?.cause == .refused)
            #expect(
                error?.failedAddresses.map(\.address) == [
                    .ip(.loopback6, port: port), .ip(.loopback4, port: port),
                ])
            let text = "\(error.map(String.init(describing:)) ?? "")"
            for part in ["Connecting to localhost:\(port)", "refused", "[::1]:\(port)", "127.0.0.1:\(port)"] {
                #expect(text.contains(part), "\(text)")
            }
        }
    }

    @Test func unixSocketsThatAreNotThere() async throws {
        try await withTemporaryFolder { folder in
            let long = folder + "/" + String(repeating: "x", count: 200)
            let cases: [(String, Int32)] = [
                (folder + "/none", ENOENT), (long, ENAMETOOLONG), ("", ENAMETOOLONG), ("nul\0", ENAMETOOLONG),
            ]
            await withLoop { loop in
                for (path, code) in cases {
                    let error = await Client(loop).connect(.unix(path: path))
                    #expect(error?.cause == .systemCall(.connect, errno: code))
                    #expect(error?.phase == .connect && error?.endpoint == path)
                }
            }
        }
    }

    @Test func aFullQueueOfAUnixSocketIsWaitedFor() async throws {
        try await withTemporaryFolder { folder in
            let (listener, endpoint) = try Peer.listen(.unix(folder + "/socket"), 0)
            defer { close(listener) }
            try await withLoop { loop in
                // One more than the queue holds: the last waits until there is room.
                let clients = (0..<3).map { _ in Client(loop) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for client in clients { group.addTask { #expect(await client.connect(endpoint) == nil) } }
                    Thread.start {
                        for _ in 0..<3 { close(accept(listener, nil, nil)) }
                    }
                    try await group.waitForAll()
                }
                for client in clients { await client.close() }
            }
        }
    }

    @Test func namesThatAreNotFound() async {
        let cases: [(ResolverFailure, ResolverFailure, TransportError.Cause)] = [
            (.notFound("a"), .notFound("a"), .nameNotFound("a")),
            (.notFound("a"), .failed("b"), .resolverFailed("b")),
            (.failed("b"), .notFound("a"), .resolverFailed("b")),
            (.notFound("a"), .refused(.tooMuchWaits(4)), .lookupRefused(.tooMuchWaits(4))),
        ]
        await withLoop { loop in
            for (v4, v6, cause) in cases {
                let resolver = Resolver { _, family in .failure(family == .v4 ? v4 : v6) }
                let error = await Client(loop, resolver: resolver).connect(.tcp(host: "a.test", port: 1))
                #expect(error?.phase == .resolve && error?.endpoint == "a.test:1" && error?.cause == cause)
            }
        }
    }

    /// A lookup needs descriptors, for which idle connections are closed.
    @Test(arguments: [EMFILE, ENFILE]) func aLookupWithoutDescriptors(code: Int32) async throws {
        let peer = try Peer(.v4) { _ = try $0.readToEnd() }
        defer { peer.stop() }
        let endpoint = Endpoint.tcp(host: "a.test", port: peer.port)
        let hasDescriptors = Box(false)
        let resolver = Resolver { _, family in
            guard hasDescriptors.value else { return .failure(.noDescriptors(code)) }
            return family == .v4 ? .success([.loopback4]) : .failure(.notFound("no address"))
        }
        await withLoop { loop in
            let error = await Client(loop, resolver: resolver).connect(endpoint)
            #expect(error?.phase == .resolve && error?.cause == .systemCall(.socket, errno: code))
            #expect(error?.category == .cannotConnect)
            let idle = await loop.run {
                let membership = IdleConnections.Membership(on: loop) { hasDescriptors.value = true }
                membership.connectionDidBecomeIdle()
                return OnLoop(membership)
            }
            let client = Client(loop, resolver: resolver)
            #expect(await client.connect(endpoint) == nil)
            await client.close()
            withExtendedLifetime(idle) {}
        }
    }

    /// TCP connects to no multicast address, and the system reports that as an unreachable network.
    @Test func aRefusalIsReportedBeforeAnUnreachableNetwork() async throws {
        let (socket, port) = try deafSocket()
        defer { withExtendedLifetime(socket) {} }
        let groups = [IPAddress.v4(0xE000_0001), .v4(0xE000_0002)]
        let refusing = IPAddress.loopback4
        let cases: [([IPAddress], TransportError.Cause)] = [
            (groups, .systemCall(.connect, errno: ENETUNREACH)),
            ([groups[0], refusing, groups[1]], .refused), (groups + [refusing], .refused),
        ]
        await withLoop { loop in
            for (addresses, cause) in cases {
                let resolver = Resolver { _, family in
                    family == .v4 ? .success(addresses) : .failure(.notFound("no address"))
                }
                let error = await Client(loop, resolver: resolver).connect(.tcp(host: "a.test", port: port))
                #expect(error?.cause == cause && error?.failedAddresses.count == addresses.count, "\(addresses)")
                if cause == .refused { #expect(error?.isOffline == false && error?.category == .cannotConnect) }
            }
        }
    }

    /// As on a machine without IPv6: the system makes no socket for such an address.
    @Test func anAddressFamilyThatTheSystemLacksIsALackOfRoute() async {
        let resolver = Resolver { _, family in
            .success(family == .v4 ? [.v4(0xE000_0001), .v4(0xE000_0002)] : [.v6(high: 0xFF0E << 48, low: 1, zone: 0)])
        }
        await withLoop { loop in
            loop.attach(FaultPlan(.socket, .nth(1), .fail(EAFNOSUPPORT)))
            let error = await Client(loop, resolver: resolver).connect(.tcp(host: "a.test", port: 1))
            #expect(error?.cause == .systemCall(.connect, errno: ENETUNREACH) && error?.failedAddresses.count == 3)
            loop.attach(FaultPlan(.socket, .from(1), .fail(EAFNOSUPPORT)))
            let offline = await Client(loop, resolver: resolver).connect(.tcp(host: "a.test", port: 1))
            #expect(offline?.cause == .systemCall(.socket, errno: EAFNOSUPPORT))
            #expect(offline?.isOffline == true && offline?.category == .noNetwork)
        }
    }

    /// TCP connects to no multicast address: each attempt fails at once.
    @Test func aNameWithThousandsOfAddresses() async {
        await withLoop { loop in
            let resolver = Resolver { _, family in
                guard family == .v6 else { return .failure(.notFound("no address")) }
                return .success((UInt64(0)..<20_000).map { IPAddress.v6(high: 0xFF0E << 48, low: $0, zone: 0) })
            }
            let error = await Client(loop, resolver: resolver).connect(.tcp(host: "a.test", port: 1))
            #expect(error?.phase == .connect && error?.failedAddresses.count == Resolver.maximumAddresses)
        }
    }

    @Test func anAddressThatIsNamedTwiceIsTriedOnce() async throws {
        let (socket, port) = try deafSocket()
        defer { withExtendedLifetime(socket) {} }
        await withLoop { loop in
            let answers: Resolver.Lookup = { _, family in
                family == .v4 ? .success([.loopback4, .loopback4]) : .failure(.notFound("no address"))
            }
            var use = NetworkUse()
            for requiresDNSSEC in [false, true] {
                use.requiresDNSSEC = requiresDNSSEC
                let resolver = Resolver(lookup: answers, validatedLookup: answers)
                let error = await Client(loop, resolver: resolver).connect(.tcp(host: "a.test", port: port), over: use)
                #expect(error?.cause == .refused)
                #expect(error?.failedAddresses.map(\.address) == [.ip(.loopback4, port: port)])
            }
        }
    }

    /// Where the system does not say which interface a connection would leave by, none is made.
    @Test func anUnknownInterfaceIsExcluded() async throws {
        let peer = try Peer(.v4) { _ = try $0.readToEnd() }
        defer { peer.stop() }
        var use = NetworkUse()
        use.allowsCellular = false
        let limited = use
        await withLoop { loop in
            for code in [EACCES, EMFILE] {
                loop.attach(FaultPlan(.socket, .nth(1), .fail(code)))
                let error: TransportError? = await withCheckedContinuation { continuation in
                    loop.execute {
                        let connector = Connector(loop: loop, resolver: .shared)
                        _ = connector.connect(to: .tcp(host: "127.0.0.1", port: peer.port), over: limited) { result in
                            switch result {
                            case .success(let stream):
                                stream.close()
                                continuation.resume(returning: nil)
                            case .failure(let error): continuation.resume(returning: error)
                            }
                        }
                    }
                }
                loop.attach(FaultPlan([]))
                #expect(error?.cause == .systemCall(.socket, errno: code))
            }
        }
    }

    /// The system would take some of the names for another, or for none.
    @Test(arguments: ["none", "", "lo\0x", "lo\0", "sixteen-bytes-no"])
    func aMissingInterface(name: String) async throws {
        let peer = try Peer { _ = try $0.readToEnd() }
        defer { peer.stop() }
        var use = NetworkUse()
        use.interface = RequiredInterface(name)
        for isRestricted in [false, true] {
            use.allowsCellular = !isRestricted
            let limited = use
            await withLoop { loop in
                let error = await Client(loop).connect(peer.endpoint, over: limited)
                let reason = SystemCalls.text(ofError: ENODEV)
                #expect(
                    error?.cause
                        == .configuration("the connection cannot use “\(name)” (requiredInterface): \(reason)"))
            }
        }
    }

    @Test func theSecondFamilyIsUsedWhenTheFirstIsRefused() async throws {
        let peer = try Peer(.v4) { _ = try $0.readToEnd() }
        defer { peer.stop() }
        await withLoop { loop in
            let resolver = Resolver { _, family in .success(family == .v4 ? [.loopback4] : [.loopback6]) }
            let client = Client(loop, resolver: resolver)
            #expect(await client.connect(.tcp(host: "both.test", port: peer.port)) == nil)
            #expect(await client.info?.remote == .ip(.loopback4, port: peer.port))
            #expect(await client.info?.endpoint == .tcp(host: "both.test", port: peer.port))
            await client.close()
        }
    }

    /// A listener whose queue is full: connections to it neither succeed nor fail.
    private final class Blackhole: Sendable {
        let listener: Int32
        let endpoint: Endpoint
        private let fillers: [Int32]

        init() throws {
            let (listener, endpoint) = try Peer.listen(.v4, 0)
            var name = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            var fillers: [Int32] = []
            for _ in 0..<4 {
                let filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
                withUnsafeMutablePointer(to: &name) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        getsockname(listener, $0, &length)
                        _ = Glibc.connect(filler, $0, length)
                    }
                }
                // The queue has room for one, which must be there before the next asks.
                var first = pollfd(fd: filler, events: Int16(POLLOUT), revents: 0)
                if fillers.isEmpty { poll(&first, 1, 120_000) }
                fillers.append(filler)
            }
            self.listener = listener
            self.endpoint = endpoint
            self.fillers = fillers
        }

        deinit { for descriptor in fillers + [listener] { close(descriptor) } }
    }

    @Test func attemptsTimeOut() async throws {
        let blackhole = try Blackhole()
        guard case .tcp(_, let port) = blackhole.endpoint else { return }
        let endpoint = blackhole.endpoint
        let time = ManualTime()
        try await withTimeout {
            try await withLoop(.manual(time)) { loop in
                let client = Client(loop)
                async let result = client.connect(endpoint, timeout: 5_000_000_000)
                try await waitUntil { await client.isConnecting }
                time.advance(by: .seconds(4))
                #expect(await client.isConnecting)
                time.advance(by: .seconds(1))
                let error = await result
                #expect(error?.phase == .connect && error?.cause == .timedOut)
                #expect(error?.failedAddresses == [.init(address: .ip(.loopback4, port: port), cause: .timedOut)])
            }
        }
        withExtendedLifetime(blackhole) {}
    }

    @Test func resolvingTimesOut() async throws {
        let time = ManualTime()
        let gate = Gate()
        let asked = Gate()
        try await withTimeout {
            try await withLoop(.manual(time)) { loop in
                let resolver = Resolver { _, _ in
                    asked.open()
                    gate.wait()
                    return .success([.loopback4])
                }
                let client = Client(loop, resolver: resolver)
                async let result = client.connect(.tcp(host: "slow.test", port: 1), timeout: 5_000_000_000)
                try await waitUntil { await client.isAsked }
                await asked.passed()
                time.advance(by: .seconds(5))
                let error = await result
                #expect(error?.phase == .resolve && error?.cause == .timedOut)
                gate.open()
                gate.open()
            }
        }
    }

    @Test func aCancelledAttemptIsSilentAndLeavesNothing() async throws {
        let blackhole = try Blackhole()
        guard case .tcp(_, let port) = blackhole.endpoint else { return }
        await withLoop { loop in
            await loop.run {
                let connector = Connector(loop: loop, resolver: Resolver())
                for isLater in [false, true] {
                    let attempt = connector.connect(to: .tcp(host: "127.0.0.1", port: port)) { _ in
                        Issue.record("completed")
                    }
                    if isLater {
                        loop.executeLater { loop.executeLater { attempt.cancel() } }
                    } else {
                        attempt.cancel()
                    }
                }
            }
            for _ in 0..<10 { await loop.run {} }
        }
        // The four that fill the queue are the test's.
        #expect(socketsConnected(to: port) <= 4)
        withExtendedLifetime(blackhole) {}
    }

    @Test func connectionsLeaveNoDescriptors() async throws {
        let peer = try Peer { try $0.write(try $0.read()) }
        await withLoop { loop in
            for index in 0..<30 {
                let client = Client(loop)
                #expect(await client.connect(peer.endpoint) == nil)
                if index % 3 == 0 { #expect(await client.write("x") == nil) }
                // Those that are not closed go with their owner.
                if index % 2 == 0 { await client.close() }
            }
        }
        #expect(socketsConnected(to: peer.port) == 0)
        peer.stop()
    }

    @Test func loopsLeaveNoDescriptors() {
        let before = openEpolls()
        for _ in 0..<500 {
            let loop = EventLoop(name: "test")
            loop.execute {}
            loop.stop()
        }
        // Each has one; other tests that run at the same time have some.
        #expect(openEpolls() < before + 250)
    }

    private func openEpolls() -> Int {
        openDescriptors().count { descriptor in
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return link == "anon_inode:[eventpoll]"
        }
    }
}

extension Client {
    fileprivate var isConnecting: Bool { timings?.connectStart != nil && stream == nil }
    fileprivate var isAsked: Bool { timings?.resolveStart != nil }
}

func openDescriptors() -> [Int32] {
    guard let directory = opendir("/proc/self/fd") else { return [] }
    defer { closedir(directory) }
    var found: [Int32] = []
    while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if let number = Int32(name) { found.append(number) }
    }
    return found
}

/// How many of the process's sockets are connected, or connecting, to a port of 127.0.0.1, by the kernel's table.
func socketsConnected(to port: UInt16) -> Int {
    var own = Set<Substring>()
    for descriptor in openDescriptors() {
        var buffer = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/self/fd/\(descriptor)", &buffer, 63)
        let text = String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if text.hasPrefix("socket:[") { own.insert(text.dropFirst(8).dropLast()) }
    }
    guard let file = fopen("/proc/net/tcp", "r") else { return -1 }
    defer { fclose(file) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer[..<count] }
    let hexadecimal = String(port, radix: 16, uppercase: true)
    let suffix = ":" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
    // The table is read in pieces: where it changes in between, a socket may be in two of them.
    var found = Set<Substring>()
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n").dropFirst() {
        let fields = line.split(separator: " ")
        if fields.count > 9, fields[2].hasSuffix(suffix), own.contains(fields[9]) { found.insert(fields[9]) }
    }
    return found.count
}
