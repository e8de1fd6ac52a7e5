import Glibc
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization
import Testing

@Suite struct EventLoopTests {
    @Test func workRunsInOrderOnTheLoop() async {
        await withLoop { loop in
            #expect(!loop.isCurrent)
            let log = OnLoop<[Int]>([])
            for number in 0..<1000 { loop.execute { log.value.append(number) } }
            let result = await loop.run { (log.value, loop.isCurrent) }
            #expect(result.0 == Array(0..<1000))
            #expect(result.1)
        }
    }

    @Test func workOfTheLoopRunsAfterWhatRunsNow() async {
        await withLoop { loop in
            let log = OnLoop<[Int]>([])
            await loop.run {
                loop.execute { log.value.append(2) }
                loop.executeLater { log.value.append(3) }
                log.value.append(1)
            }
            #expect(await loop.run { log.value } == [1, 2, 3])
        }
    }

    @Test func theEndOfATurnComesAfterItsWork() async {
        await withLoop { loop in
            let log = OnLoop<[Int]>([])
            await withCheckedContinuation { continuation in
                loop.execute {
                    loop.executeAtEndOfTurn {
                        log.value.append(3)
                        loop.executeAtEndOfTurn {
                            log.value.append(5)
                            continuation.resume()
                        }
                        loop.executeLater { log.value.append(4) }
                    }
                    loop.executeLater { log.value.append(2) }
                    log.value.append(1)
                }
            }
            #expect(await loop.run { log.value } == [1, 2, 3, 4, 5])
        }
    }

    @Test func eachThreadsWorkKeepsItsOrder() async {
        let perThread = 5000
        await withLoop { loop in
            let log = OnLoop<[[Int]]>(Array(repeating: [], count: 8))
            let gates = (0..<8).map { _ in Gate() }
            for thread in 0..<8 {
                Thread.start {
                    for number in 0..<perThread { loop.execute { log.value[thread].append(number) } }
                    gates[thread].open()
                }
            }
            for gate in gates { #expect(await gate.passed()) }
            let result = await loop.run { log.value }
            #expect(result.allSatisfy { $0 == Array(0..<perThread) })
        }
    }

    @Test func stopDoesTheWorkFirst() {
        let loop = EventLoop(name: "test")
        let count = Atomic<Int>(0)
        for _ in 0..<100 {
            loop.execute {
                count.add(1, ordering: .relaxed)
                loop.execute { count.add(1, ordering: .relaxed) }
            }
        }
        loop.stop()
        #expect(count.load(ordering: .relaxed) == 200)
        loop.execute { count.add(1, ordering: .relaxed) }
        loop.stop()
        #expect(count.load(ordering: .relaxed) == 200)
    }

    @Test func aLoopCanStopItself() async {
        let loop = EventLoop(name: "test")
        let gate = Gate()
        loop.execute {
            loop.stop()
            loop.execute { gate.open() }
        }
        #expect(await gate.passed())
    }

    @Test func sharedLoopsTakeTurns() {
        let loops = Set((0..<64).map { _ in ObjectIdentifier(EventLoop.next()) })
        #expect((1...4).contains(loops.count))
    }

    @Test func timersOfTheSystemsClockFireInOrder() async {
        await withLoop { loop in
            let log = OnLoop<[Int]>([])
            await withCheckedContinuation { continuation in
                loop.execute {
                    let now = loop.now
                    _ = loop.schedule(at: now.advanced(byNanoseconds: 3_000_000)) {
                        log.value.append(3)
                        continuation.resume()
                    }
                    _ = loop.schedule(at: now.advanced(byNanoseconds: 1_000_000)) { log.value.append(1) }
                    _ = loop.schedule(at: now.advanced(byNanoseconds: 2_000_000)) {
                        #expect(loop.now >= now.advanced(byNanoseconds: 2_000_000))
                        log.value.append(2)
                    }
                    _ = loop.schedule(at: now) { log.value.append(0) }
                }
            }
            #expect(await loop.run { log.value } == [0, 1, 2, 3])
        }
    }

    // MARK: More events than one turn handles

    /// Runs `body` with 200 connected clients of a loop, and the descriptors of their peers.
    private func withManyClients(_ body: (EventLoop, [Client], [Int32]) async -> Void) async throws {
        let accepted = Guarded<[Int32]>([])
        let isAccepted = Semaphore()
        let peer = try Peer { connection in
            accepted.withLock { $0.append(dup(connection.descriptor)) }
            isAccepted.signal()
        }
        defer {
            peer.stop()
            for end in accepted.withLock({ $0 }) { close(end) }
        }
        await withLoop { loop in
            let clients = (0..<200).map { _ in Client(loop) }
            for client in clients {
                #expect(await client.connect(peer.endpoint) == nil)
                #expect(isAccepted.wait(seconds: 120))
            }
            await body(loop, clients, accepted.withLock { $0 })
            for client in clients { await client.close() }
        }
    }

    /// As after the system has suspended the process for longer than a timeout.
    @Test func inputThatHasArrivedComesBeforeTimers() async throws {
        try await withManyClients { loop, clients, ends in
            let readableCount: @Sendable () -> Int = {
                clients.count { $0.assumeIsolated { $0.readableCount > 0 } }
            }
            let (before, atTimer) = await withCheckedContinuation { continuation in
                loop.execute {
                    let before = readableCount()
                    _ = loop.schedule(at: loop.now.advanced(byNanoseconds: 1)) {
                        continuation.resume(returning: (before, readableCount()))
                    }
                    // The loop stands still meanwhile.
                    for end in ends { #expect(write(end, "x", 1) == 1) }
                }
            }
            #expect(before == 0)
            #expect(atTimer == clients.count)
        }
    }

    @Test func inputThatKeepsComingDoesNotHoldUpTimers() async throws {
        try await withManyClients { loop, clients, ends in
            let feeders = ends.map { Feeder(end: $0) }
            await withCheckedContinuation { continuation in
                loop.execute {
                    for (client, feeder) in zip(clients, feeders) {
                        client.assumeIsolated { $0.stream?.handler = feeder }
                        feeder.sendByte()
                    }
                    _ = loop.schedule(at: loop.now.advanced(bySeconds: 0.01)) {
                        for feeder in feeders { feeder.isOver = true }
                        continuation.resume()
                    }
                }
            }
        }
    }

    /// Has the peer of a stream send a byte for each that has arrived.
    private final class Feeder: ByteStreamHandler, @unchecked Sendable {  // used on its stream's loop only
        let end: Int32
        var isOver = false

        init(end: Int32) { self.end = end }

        func sendByte() { #expect(write(end, "x", 1) == 1) }

        func streamDidBecomeReadable(_ stream: ByteStream) {
            if case .bytes(1) = stream.read(into: stream.loop.scratch), !isOver { sendByte() }
        }

        func streamDidBecomeWritable(_ stream: ByteStream) {}
    }

    // MARK: As an executor

    private actor Resident {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        var count = 0

        init(_ loop: EventLoop) { self.loop = loop }

        func increment() -> Bool {
            count += 1
            loop.preconditionCurrent()
            return loop.isCurrent
        }
    }

    private nonisolated func isOn(_ loop: EventLoop) async -> Bool { loop.isCurrent }

    /// The child has neither the loop's thread nor sockets of its own. It would wait for ever, or send on its parent's sockets.
    @Test func aForkedProcessThatUsesALoopEnds() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            // Swift does not import it.
            guard let symbol = dlsym(nil, "fork") else { exit(2) }
            let makeChild = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
            let loop = EventLoop(name: "parent")
            let uses: [() -> Void] = [
                { loop.execute {} }, { loop.perform {} }, { loop.stop() }, { _ = EventLoop.next() },
                { _ = EventLoop(name: "child") },
            ]
            for use in uses {
                let child = makeChild()
                if child == 0 {
                    use()
                    _exit(0)
                }
                var status: Int32 = 0
                while waitpid(child, &status, 0) < 0, errno == EINTR {}
                // A signal has ended it.
                guard child > 0, status & 0x7F != 0 else { exit(1) }
            }
            loop.stop()
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.ranges(of: "the child process must call exec").count >= 5)
    }

    @Test func anActorLivesOnTheLoop() async {
        await withLoop { loop in
            let actor = Resident(loop)
            let all = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 { group.addTask { await actor.increment() } }
                return await group.reduce(true) { $0 && $1 }
            }
            #expect(all)
            #expect(await actor.count == 100)
            await loop.run { actor.assumeIsolated { $0.count = 7 } }
            #expect(await actor.count == 7)
        }
    }

    @Test func aTaskRunsOnTheLoop() async {
        await withLoop { loop in
            let results = await Task(executorPreference: loop.executor) {
                var results = [loop.isCurrent]
                await Task.yield()
                results.append(loop.isCurrent)
                results.append(await isOn(loop))
                async let child = isOn(loop)
                results.append(await child)
                return results
            }.value
            #expect(results == [true, true, true, true])
        }
    }
}
