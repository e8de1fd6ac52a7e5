import Foundation
import LoadingKitTransport

extension URLSession {
    /// The session's figures at this moment.
    ///
    /// They are read in one turn of the session's event loop; only the sizes of the cache and the states of tasks are
    /// read after it. The cost grows with the number of connections and tasks, not with the number of loads so far.
    ///
    /// This property exists only in LoadingKit.
    public var statistics: Statistics {
        get async { await withCheckedContinuation { continuation in read { continuation.resume(returning: $0) } } }
    }

    /// Passes the session's figures to `completionHandler`, on the delegate queue. See ``statistics``.
    public func getStatistics(completionHandler: @escaping @Sendable (Statistics) -> Void) {
        read { [core] statistics in
            core.loop.execute { core.mailbox.post { completionHandler(statistics) } }
        }
    }

    /// Calls `completion` on any thread.
    private func read(_ completion: @escaping @Sendable (Statistics) -> Void) {
        core.loop.execute { [core] in
            let figures = SessionFigures(core)
            // The size of a cache on disk is read from the disk. A program's own cache may do so in its own code.
            let cache = core.settings.urlCache
            (cache?.isCustomized == true ? BlockingPool.userCode : BlockingPool.shared).run {
                completion(Statistics(figures, cache))
            }
        }
    }
}

/// The values that are read on the session's loop.
private struct SessionFigures: Sendable {
    let counts: SessionCounts.Values
    let snapshot: SessionSnapshot
    let tasks: [URLSessionTask]
    let chunkBytes: Int
    let isInvalidated: Bool

    init(_ core: SessionCore) {
        counts = core.events.counts.values
        snapshot = core.makeSnapshot(listsStreams: false)
        tasks = core.openTasks
        chunkBytes = core.chunks.keptBytes
        isInvalidated = core.isInvalidated
    }
}

extension URLSession.Statistics {
    fileprivate init(_ figures: SessionFigures, _ cache: URLCache?) {
        let (counts, others) = (figures.counts, figures.counts.others)
        isInvalidated = figures.isInvalidated
        tasks = Tasks(counts, figures.tasks)
        requests = Requests(counts, figures.snapshot)
        connections = Connections(counts, figures.snapshot.connections)
        bytes = Bytes(others)
        self.cache = Cache(counts)
        cookies = Cookies(
            stored: counts[.storedCookies], refused: counts.named(.refusedCookies, CookieRefusal.self),
            requests: counts[.requestsWithCookies])
        challenges = Challenges(
            received: counts.named(.challenges, ChallengeKind.self),
            answers: counts.named(.answers, ChallengeOutcome.self))
        nameLookUps = Times(others.lookUps)
        connects = Times(others.connects)
        handshakes = Times(others.handshakes)
        firstBytes = Times(others.firstBytes)
        memory = Memory(
            chunks: figures.chunkBytes, decodeBuffers: figures.snapshot.decodeBufferBytes,
            cache: cache?.currentMemoryUsage ?? 0, cacheOnDisk: cache?.currentDiskUsage ?? 0)
        process = .current
    }
}

extension URLSession.Statistics.Tasks {
    fileprivate init(_ counts: SessionCounts.Values, _ open: [URLSessionTask]) {
        begun = counts[.tasksBegun]
        succeeded = counts[.tasksSucceeded]
        for (code, count) in counts.others.failures {
            guard code != 0, let code = URLError.Code(rawValue: Int(code)) else {
                failedByHandler += count
                continue
            }
            failed[code] = count
        }
        for task in open {
            switch task {
            case is URLSessionUploadTask: upload.add(task.state)
            case is URLSessionDataTask: data.add(task.state)
            case is URLSessionDownloadTask: download.add(task.state)
            case is URLSessionStreamTask: stream.add(task.state)
            case is URLSessionWebSocketTask: webSocket.add(task.state)
            default: break
            }
        }
    }
}

extension URLSession.Statistics.TaskStates {
    fileprivate mutating func add(_ state: URLSessionTask.State) {
        switch state {
        case .running: running += 1
        case .suspended: suspended += 1
        case .canceling: canceling += 1
        case .completed: break
        }
    }
}

extension URLSession.Statistics.Requests {
    fileprivate init(_ counts: SessionCounts.Values, _ snapshot: SessionSnapshot) {
        loads = counts[.loadsBegun]
        (waiting, longestQueue) = (snapshot.waitingCount, snapshot.longestQueue)
        onNewConnections = counts[.firstRequests]
        onUsedConnections = counts[.laterRequests]
        for (place, count) in counts[.responses].enumerated() where count > 0 { responses[place] = count }
        redirects = counts[.redirects]
        retries = counts.named(.retries, RetryReason.self)
        failedConnects = counts[.failedConnects]
    }
}

extension URLSession.Statistics.Connections {
    fileprivate init(_ counts: SessionCounts.Values, _ present: [ConnectionState]) {
        for connection in present {
            guard let kind = connection.kind else {
                opening += 1
                continue
            }
            open["\(kind)", default: .init()].add(connection.phase)
            openStreams += connection.http2?.openStreams ?? 0
            allowedStreams += connection.http2?.allowedStreams ?? 0
        }
        opened = counts.named(.opened, ConnectionProtocol.self)
        closed = counts.named(.closed, ConnectionEnd.self)
        failed = counts.named(.failedSteps, ConnectPhase.self)
        cancelled = counts[.cancelledConnects]
    }
}

extension URLSession.Statistics.ConnectionStates {
    fileprivate mutating func add(_ phase: ConnectionState.Phase) {
        switch phase {
        case .active: active += 1
        case .idle: idle += 1
        case .closing: closing += 1
        case .opening: break
        }
    }
}

extension URLSession.Statistics.Bytes {
    fileprivate init(_ others: SessionCounts.Others) {
        headsSent = others.traffic.headBytesSent
        bodiesSent = others.traffic.bodyBytesSent
        headsReceived = others.traffic.headBytesReceived
        bodiesReceived = others.traffic.bodyBytesReceived
        decoded = others.traffic.decodedBytes
        delivered = others.delivered
    }
}

extension URLSession.Statistics.Cache {
    fileprivate init(_ counts: SessionCounts.Values) {
        for (decision, count) in counts.reasons(.cache, CacheDecision.self) {
            switch decision {
            case .fresh, .staleWhileRevalidate, .staleIfError, .anyAge: hits["\(decision)"] = count
            case .needsValidation, .completesPart, .validated, .changed: validations["\(decision)"] = count
            case .nothingStored, .nothingForRequest, .lookUpExcluded, .notLookedUp, .unavailable:
                misses["\(decision)"] = count
            case .stored: stored = count
            case .notStoredMethod, .notStoredStatus, .notStoredNoStore, .notStoredNoLifetime, .notStoredVary,
                .notStoredUntrusted, .notStoredUser, .notStoredPart, .notStoredSize, .notStoredIncomplete,
                .notStoredProgram, .notStoredRemoved:
                notStored["\(decision)"] = count
            }
        }
    }
}

extension URLSession.Statistics.Times {
    fileprivate init(_ sum: TimeSum) {
        guard sum.count > 0 else { return }
        count = sum.count
        (total, least, greatest) = (Double(sum.sum) / 1e9, Double(sum.least) / 1e9, Double(sum.greatest) / 1e9)
    }
}

extension URLSession.Statistics.Process {
    fileprivate static var current: Self {
        Self(
            fileThreads: BlockingPool.shared.threadCount,
            programThreads: BlockingPool.userCode.threadCount + BlockingPool.answers.threadCount,
            lookUpThreads: Resolver.shared.threadCount, waitingLookUps: Resolver.shared.waitingCount,
            idleConnections: IdleConnections.shared.count, idleConnectionLimit: IdleConnections.shared.limit,
            eventLoops: EventLoop.sharedCount, sessions: LiveSessions.count)
    }
}

extension SessionCounts.Values {
    /// The numbers above 0 in a row, by the reasons of its events.
    func reasons<Reason: RawRepresentable<UInt8>>(_ row: SessionCounts.Row, _: Reason.Type) -> [(Reason, Int)] {
        self[row].enumerated().compactMap { place, count in
            count > 0 ? Reason(rawValue: UInt8(place)).map { ($0, count) } : nil
        }
    }

    /// The numbers above 0 in a row, by the names of the reasons.
    fileprivate func named<Reason: RawRepresentable<UInt8>>(_ row: SessionCounts.Row, _ type: Reason.Type) -> [String:
        Int]
    {
        Dictionary(uniqueKeysWithValues: reasons(row, type).map { ("\($0)", $1) })
    }
}
