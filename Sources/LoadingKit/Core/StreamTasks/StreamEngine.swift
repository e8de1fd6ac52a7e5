import DequeModule
import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// Runs a stream task on its session's event loop: connects, unless a data task has become this task, and carries out
/// the program's operations, in order.
final class StreamEngine: TaskRunner, @unchecked Sendable {  // confined to `loop`
    /// The largest number of pieces that are read, or written, in a row: a peer that never pauses would fill the memory,
    /// and keep the loop from all other work.
    private static let piecesInARow = 16

    enum State {
        case new
        case connecting(any PendingConnection)
        case open(any StreamChannel)
        case securing(any PendingConnection)
        case over
    }

    let task: URLSessionStreamTask
    let session: URLSession
    let core: SessionCore
    /// Nil where neither the task nor the session has a delegate.
    let delegates: TaskDelegates?
    var loop: EventLoop { core.loop }
    var state = State.new
    /// The connection's number in the session; 0 until there is one of its own.
    private var connectionNumber: UInt32 = 0
    private(set) lazy var connector = core.makeConnector()
    private(set) lazy var questions = DelegateQuestions(loop)
    private var lanes: Deque<StreamLane> = [StreamLane()]
    private(set) var isReadClosed = false
    /// The reason why nothing more can be written.
    private(set) var writeRefusal: LoadFailure?
    private var received = Data()
    /// How many more pieces may be read, or written, in this turn.
    private var piecesLeft = 0
    var willContinue = false
    /// The load of the data task that has become this one.
    private let load: TaskEngine?
    /// The partition of the route to the host.
    private(set) var proxyPartition = ""
    private var networkWatch: NetworkWatch?
    /// The timeout of the whole task. Reads and writes have their own timeouts.
    private var clock: TaskClock
    private var clockTimer: LoopTimer?

    /// - Parameter clock: the clock of a load that has handed over its connection; nil where the load goes on, by its
    ///   own clock.
    convenience init(
        _ task: URLSessionStreamTask, continuing load: TaskEngine, on channel: any StreamChannel,
        timedBy clock: TaskClock? = nil
    ) {
        self.init(task, load.session, load.delegates, continuing: load, timedBy: clock)
        writeRefusal = channel.writeRefusal
        channelDidOpen(channel)
    }

    init(
        _ task: URLSessionStreamTask, _ session: URLSession, _ delegates: TaskDelegates?,
        continuing load: TaskEngine? = nil, timedBy clock: TaskClock? = nil
    ) {
        self.load = load
        self.task = task
        self.session = session
        core = session.core
        self.delegates = delegates
        let (whole, now) = (session.core.settings.timeoutIntervalForResource, session.core.loop.now)
        self.clock = clock ?? TaskClock(idle: 0, whole: whole, now: now)
        if clock != nil { continueClock() }
        scheduleCheck()
        for operation in task.waiting { submit(operation) }
        task.waiting = []
    }

    // MARK: TaskRunner

    func start() {
        guard let port = UInt16(exactly: task.port), port > 0, !task.host.isEmpty else {
            return end(with: LoadFailure(.badURL, "there is no port \(task.port) of \(task.host)"))
        }
        let connecting =
            core.registry.streamConnections(for: task, of: core)
            ?? DirectConnecting(
                connector: connector, use: NetworkUse(core.settings), timeout: core.settings.connectTimeout)
        let attempt = connecting.connect(to: task.host, port: port, challenging: self) { [weak self] in
            self?.connectDidEnd($0)
        }
        state = .connecting(attempt)
        OpenStreams.of(core).add(self)
    }

    func followState() {
        switch task.state {
        case .suspended:
            clock.pause(loop.now)
            pauseTimers()
        case .running where clock.isPaused:
            clock.proceed(loop.now)
            scheduleCheck()
        case .running, .canceling, .completed: break
        }
        if case .open(let channel) = state { channel.followState() }
        proceed()
    }

    func cancel() { end(with: URLError(.cancelled)) }

    /// The news of a suspension, or of its end, may have gone to the load alone.
    private func continueClock() {
        clock.endIdleLimit()
        if task.state == .suspended { clock.pause(loop.now) } else { clock.proceed(loop.now) }
    }

    private func scheduleCheck() {
        clockTimer?.cancel()
        let time = clock.firstCheck
        guard time < .distantFuture else { return }
        clockTimer = loop.schedule(at: time) { [weak self] in self?.checkTime() }
    }

    private func checkTime() {
        guard !clock.isPaused else { return }
        switch clock.check(loop.now) {
        case .silent(let failure), .expired(let failure): end(with: failure)
        case .checkAgain: scheduleCheck()
        }
    }

    func connectionDidEstablish() {}

    var isQueued: Bool { false }

    var isSuspended: Bool { load?.isSuspended == true }

    func whenResumed(_ proceed: @escaping () -> Void) { load?.whenResumed(proceed) }

    private func networksDidChange() {
        guard case .open(let channel) = state, channel.isBetterRouted else { return }
        report { $0.stream?.urlSession($1, betterRouteDiscoveredFor: $2) }
    }

    // MARK: Operations

    func submit(_ operation: StreamOperation) {
        if lanes.last?.barrier != nil { lanes.append(StreamLane()) }
        let last = lanes.count - 1
        switch operation {
        case .read(let read): lanes[last].reads.append(.read(read, StreamTimeout(read.timeout)))
        case .write(let write): lanes[last].writes.append(.write(write, StreamTimeout(write.timeout)))
        case .closeRead: lanes[last].reads.append(.close)
        case .closeWrite: lanes[last].writes.append(.close)
        case .secure: lanes[last].barrier = .secure
        case .unsecure: lanes[last].barrier = .unsecure
        case .capture: lanes[last].barrier = .capture
        }
        proceed()
    }

    private func connectDidEnd(_ result: Result<ConnectedStream, any Error>) {
        guard case .connecting(let attempt) = state else { return }
        switch result {
        case .success(let connected):
            connectionNumber = connected.stream.info.number
            note(.connectionOpened(.stream))
            proxyPartition = connected.proxyPartition
            channelDidOpen(StreamConnection(connected.stream))
        case .failure(let error):
            core.events.note(.connectionFailed, task: task.identifier, connection: attempt.number)
            end(with: error)
        }
    }

    private func note(_ event: SessionEvent) {
        core.events.note(event, task: task.identifier, connection: connectionNumber)
    }

    func channelDidOpen(_ channel: any StreamChannel) {
        state = .open(channel)
        OpenStreams.of(core).add(self)
        if delegates != nil, networkWatch == nil, NetworkUse(core.settings).isSelectedBySystem {
            networkWatch = NetworkWatch(core.networks, loop) { [weak self] in self?.networksDidChange() }
        }
        channel.handler = self
        proceed()
    }

    private func proceed() {
        while case .open(let channel) = state, task.state != .suspended, !lanes.isEmpty {
            startTimers()
            piecesLeft = Self.piecesInARow
            runWrites(channel)
            piecesLeft = Self.piecesInARow
            runReads(channel)
            guard case .open = state, lanes[0].isEmpty, let barrier = lanes[0].barrier else { return }
            lanes.removeFirst()
            if lanes.isEmpty { lanes.append(StreamLane()) }
            pass(barrier, channel)
        }
    }

    private func pass(_ barrier: StreamLane.Barrier, _ channel: any StreamChannel) {
        switch barrier {
        case .secure: secure(channel)
        case .unsecure: end(with: LoadFailure(.secureConnectionFailed, "TLS cannot be removed from a connection"))
        case .capture: capture(channel)
        }
    }

    /// Starts the timeouts of the current operations, or continues them after a suspension.
    private func startTimers() {
        if case .read(_, let timeout)? = lanes.first?.reads.first {
            timeout.start(on: loop) { [weak self] in self?.readDidTimeOut() }
        }
        if case .write(_, let timeout)? = lanes.first?.writes.first {
            timeout.start(on: loop) { [weak self] in self?.writeDidTimeOut() }
        }
    }

    private func pauseTimers() {
        if case .read(_, let timeout)? = lanes.first?.reads.first { timeout.pause(loop.now) }
        if case .write(_, let timeout)? = lanes.first?.writes.first { timeout.pause(loop.now) }
    }

    // MARK: Reading

    private func runReads(_ channel: any StreamChannel) {
        while case .open = state, let next = lanes.first?.reads.first {
            switch next {
            case .close:
                lanes[0].reads.removeFirst()
                closeRead()
            case .read(let read, let timeout):
                var failure: (any Error)?
                guard let isAtEnd = fill(read, channel, &failure) else { return }
                timeout.cancel()
                lanes[0].reads.removeFirst()
                let data = received
                task.receivedCount.wrappingAdd(Int64(data.count), ordering: .relaxed)
                task.updateProgress()
                received = Data()
                answer { read.done(data.isEmpty && isAtEnd ? nil : data, isAtEnd, nil) }
                if let failure { return end(with: failure) }
                if isAtEnd { closeRead() }
                startTimers()
            }
        }
    }

    /// Whether the peer has sent everything; nil as long as there are not enough bytes.
    ///
    /// - Parameter failure: the connection's failure after enough bytes.
    private func fill(_ read: StreamRead, _ channel: any StreamChannel, _ failure: inout (any Error)?) -> Bool? {
        if isReadClosed { return true }
        while received.count < read.maximum {
            guard piecesLeft > 0 else {
                if !received.isEmpty, received.count >= read.minimum { return false }
                continueLater()
                return nil
            }
            piecesLeft -= 1
            let room = min(read.maximum - received.count, loop.scratch.count)
            switch channel.read(into: UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<room])) {
            case .bytes(let count):
                received.append(contentsOf: loop.scratch[..<count])
            case .wouldBlock: return received.count >= read.minimum ? false : nil
            case .end: return true
            case .failed(let error):
                if !received.isEmpty, received.count >= read.minimum {
                    failure = error
                    return false
                }
                end(with: error)
                return nil
            }
        }
        return false
    }

    private func closeRead() {
        guard !isReadClosed else { return }
        isReadClosed = true
        report { $0.stream?.urlSession($1, readClosedFor: $2) }
        endIfClosed()
    }

    private func readDidTimeOut() {
        guard case .read(let read, _)? = lanes.first?.reads.first else { return }
        lanes[0].reads.removeFirst()
        takeBack()
        let text = "the read was not complete within \(read.timeout) seconds"
        answer { read.done(nil, false, URLError(LoadFailure(.timedOut, text), url: nil)) }
        proceed()
    }

    /// Returns the bytes of a failed read to the channel: the next read may request fewer bytes, and the next operation
    /// may not be a read.
    private func takeBack() {
        guard !received.isEmpty, case .open(let channel) = state else { return }
        channel.unread(received)
        received = Data()
    }

    // MARK: Writing

    private func runWrites(_ channel: any StreamChannel) {
        while case .open = state, let next = lanes.first?.writes.first {
            switch next {
            case .close:
                lanes[0].writes.removeFirst()
                closeWrite(channel)
            case .write(var write, let timeout):
                if let writeRefusal {
                    timeout.cancel()
                    lanes[0].writes.removeFirst()
                    answer { [done = write.done] in done(URLError(writeRefusal, url: nil)) }
                    continue
                }
                let isDone = send(&write, channel)
                guard case .open = state else { return }
                guard isDone else {
                    lanes[0].writes[0] = .write(write, timeout)
                    return
                }
                timeout.cancel()
                lanes[0].writes.removeFirst()
                answer { [done = write.done] in done(nil) }
                startTimers()
            }
        }
    }

    private func send(_ write: inout StreamWrite, _ channel: any StreamChannel) -> Bool {
        while write.sent < write.data.count {
            guard piecesLeft > 0 else {
                continueLater()
                return false
            }
            piecesLeft -= 1
            let result = write.data.withUnsafeBytes {
                channel.write(UnsafeRawBufferPointer(rebasing: $0[write.sent...]))
            }
            switch result {
            case .bytes(let count):
                write.sent += count
                task.sentCount.wrappingAdd(Int64(count), ordering: .relaxed)
            case .wouldBlock: return false
            case .failed(let error):
                // The bytes that the peer has sent before are for the reads.
                piecesLeft = .max
                runReads(channel)
                end(with: error)
                return false
            }
        }
        return true
    }

    private func closeWrite(_ channel: any StreamChannel) {
        guard writeRefusal == nil else { return }
        writeRefusal = LoadFailure(.cancelled, "the task's write side is closed")
        channel.finishWriting()
        report { $0.stream?.urlSession($1, writeClosedFor: $2) }
        endIfClosed()
    }

    private func writeDidTimeOut() {
        guard case .write(let write, _)? = lanes.first?.writes.first else { return }
        let failure = LoadFailure(.timedOut, "the write was not complete within \(write.timeout) seconds")
        guard write.sent == 0 else { return end(with: failure) }
        lanes[0].writes.removeFirst()
        answer { write.done(URLError(failure, url: nil)) }
        proceed()
    }

    // MARK: The end

    private func endIfClosed() { if isReadClosed && writeRefusal != nil { finish(nil) } }

    func end(with error: any Error) {
        let failure = URLError(error, url: nil)
        if failure.code == .cancelled { return finish(failure) }
        let host = task.host.utf8.contains(UInt8(ascii: ":")) ? "[\(task.host)]" : task.host
        let title = "a stream to \(host):\(task.port)"
        finish(failure.adding(core.events.loadRecord(ofTask: task.identifier, title: title)))
    }

    /// - Parameter streams: the streams that the delegate gets in place of the end.
    func finish(_ error: URLError?, giving streams: LoopTransfer<(InputStream, OutputStream)>? = nil) {
        let last = state
        if case .over = last { return }
        state = .over
        if connectionNumber > 0 { note(.connectionClosed(streams != nil ? .taken : error == nil ? .unusable : .lost)) }
        OpenStreams.of(core).remove(self)
        clockTimer?.cancel()
        networkWatch = nil
        questions.closeAll()
        switch last {
        case .connecting(let attempt), .securing(let attempt): attempt.cancel()
        case .open(let channel): if error != nil { channel.close() } else if streams == nil { channel.closeWhenSent() }
        case .new, .over: break
        }
        let refusal = error ?? URLError(LoadFailure(.cancelled, "the task has ended"), url: nil)
        task.refusal = refusal
        fail(lanes, with: refusal)
        lanes = []
        if let delegates {
            postEnd(error, to: delegates, giving: streams)
        } else {
            task.settle(error, heedsCancellation: false)
            task.releaseResources()
        }
        core.finished(task, error)
    }

    private func postEnd(
        _ error: URLError?, to delegates: TaskDelegates, giving streams: LoopTransfer<(InputStream, OutputStream)>?
    ) {
        core.mailbox.postEnd(of: task, isFirst: true) { [session, task, metrics] in
            // Until now the program can cancel a task whose sides are closed.
            task.settle(error, heedsCancellation: streams == nil)
            delegates.didCollect(metrics, session, task)
        }
        core.mailbox.postEnd(of: task) { [session, task] in
            if let (input, output) = streams?.value {
                delegates.stream?.urlSession(session, streamTask: task, didBecome: input, outputStream: output)
            } else {
                delegates.didComplete(task.error, session, task)
            }
            task.releaseResources()
        }
    }

    // MARK: The program

    /// Calls the delegate, if there is one, unless the program has cancelled the task.
    private func report(_ call: @escaping @Sendable (TaskDelegates, URLSession, URLSessionStreamTask) -> Void) {
        guard let delegates else { return }
        core.mailbox.post(for: task) { [session, task] in call(delegates, session, task) }
    }

    /// Calls an operation's handler, even of a cancelled task.
    private func answer(_ handler: @escaping @Sendable () -> Void) { core.mailbox.postEnd(of: task, handler) }

    /// Without a data task's load there is no request, and therefore no transaction.
    private var metrics: URLSessionTaskMetrics {
        load?.metrics ?? .withoutTransactions(task.created)
    }

    private func fail(_ lanes: Deque<StreamLane>, with error: URLError) {
        for lane in lanes {
            for case .read(let read, let timeout) in lane.reads {
                timeout.cancel()
                answer { read.done(nil, false, error) }
            }
            for case .write(let write, let timeout) in lane.writes {
                timeout.cancel()
                answer { write.done(error) }
            }
        }
    }
}

extension StreamEngine: StreamChannelHandler {
    func channelDidBecomeReady() { proceed() }
}
