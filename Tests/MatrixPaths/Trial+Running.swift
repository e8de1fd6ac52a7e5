import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport

extension Trial {
    /// Does what the trial says, and gives what was seen of it.
    package func run() async throws -> Observation {
        try await withTimeout("a load by \(path.rawValue)") {
            let peer = try makePeer()
            defer { peer.stop() }
            let relay = isMultipath ? try MultipathRelay(to: peer.port) : nil
            defer { relay?.stop() }
            let port = relay?.port ?? peer.port
            try await prepare(port)
            var resumptions: [Data?] = []
            for _ in 0..<loads * rounds { resumptions.append(try await makeResumption(peer, port)) }
            let openedBefore = peer.openings.count
            peer.begin()
            relay?.begin()
            let watch = TaskWatch(onInterim: { (peer as? HTTPPeer)?.uploads?.interimSeen.fire() })
            let session = URLSession(configuration: makeConfiguration(), delegate: watch, delegateQueue: nil)
            defer { session.invalidateAndCancel() }
            var observation = Observation()
            for round in 0..<rounds {
                if round > 0 { try await betweenRounds() }
                try await withThrowingTaskGroup(of: (Outcome, URLSessionTaskMetrics?).self) { group in
                    for number in 0..<loads {
                        let resumption = resumptions[round * loads + number]
                        group.addTask { try await load(session, watch, port, resumption) }
                    }
                    if let isEnough {
                        await isEnough(peer.openings)
                        peer.observe(into: &observation)
                        session.invalidateAndCancel()
                    }
                    for try await (outcome, metrics) in group {
                        observation.outcomes.append(outcome)
                        if let metrics { observation.metrics.append(metrics) }
                    }
                }
            }
            if awaitsConnection { await peer.openings.count(reaches: openedBefore + 1) }
            // What the server notes when a connection is over.
            session.invalidateAndCancel()
            if path == .ftp || path == .stream { peer.stop() }
            if isEnough == nil { peer.observe(into: &observation) }
            if let relay { observation.areMultipath = relay.areMultipath }
            return observation
        }
    }

    private func makePeer() throws -> any MatrixPeer {
        if let peer { return try peer() }
        switch path {
        case .ftp: return try FTPPeer(self)
        case .stream: return try StreamPeer(self)
        case _: return try HTTPPeer(self)
        }
    }

    // MARK: What the path makes

    package func makeConfiguration(changed: Bool = true) -> URLSessionConfiguration {
        let configuration: URLSessionConfiguration =
            path == .inProcess || path == .daemon
            ? .background(withIdentifier: "matrix-\(UUID().uuidString)") : .ephemeral
        // More than a trial may take, which has a limit of its own.
        configuration.timeoutIntervalForRequest = 1000
        // Not what the environment says.
        configuration.connectionProxyDictionary = [:]
        configuration.tlsTrustRoots = .pem(MatrixAuthority.pem)
        configuration.runsInProcess = path == .inProcess
        if path == .interceptor { configuration.interceptors = [Forwarding()] }
        if path == .forwarded {
            let scheme = usesTLS ? "https" : "http"
            configuration.register(scheme: "forwarded") { load in
                var request = load.request
                request.url = request.url.flatMap { URL(string: scheme + $0.absoluteString.dropFirst(9)) }
                try await load.receive(load.next.load(request))
            }
        }
        if changed { configure(configuration) }
        return configuration
    }

    func makeRequest(_ port: UInt16) throws -> URLRequest {
        let (scheme, secure) =
            switch path {
            case .webSocket: ("ws", "wss")
            case .ftp: ("ftp", "ftps")
            case .forwarded: ("forwarded", "forwarded")
            case _: ("http", "https")
            }
        let name = path == .redirect ? "start" : target
        let place = socketPath == nil ? "\(host):\(port)" : host
        guard let url = URL(string: "\(usesTLS ? secure : scheme)://\(place)/\(name)") else {
            throw URLError(.badURL)
        }
        var request = URLRequest(url: url)
        if path == .resumedUpload { request.httpMethod = "POST" }
        change(&request)
        return request
    }

    // MARK: Loads

    private func load(
        _ session: URLSession, _ watch: TaskWatch, _ port: UInt16, _ resumption: Data?
    ) async throws -> (Outcome, URLSessionTaskMetrics?) {
        switch path {
        case .stream: return await exchange(session.streamTask(withHostName: host, port: Int(port)), watch)
        case .webSocket: return await exchange(session.webSocketTask(with: try makeRequest(port)), watch)
        case _: if isCollected { return (await collect(session, try makeRequest(port), resumption), nil) }
        }
        let task: URLSessionTask =
            switch path {
            case .resumedDownload: session.downloadTask(withResumeData: resumption ?? Data())
            case .resumedUpload: session.uploadTask(withResumeData: resumption ?? Data())
            case .inProcess, .daemon: try makeBackgroundTask(session, try makeRequest(port))
            case _:
                if let upload {
                    session.uploadTask(with: try makeRequest(port), from: upload)
                } else {
                    session.dataTask(with: try makeRequest(port))
                }
            }
        task.resume()
        return await watch.end(of: task)
    }

    /// As long as the process.
    private static let files = Result { try TemporaryFolder() }

    private func makeBackgroundTask(_ session: URLSession, _ request: URLRequest) throws -> URLSessionTask {
        guard let upload else { return session.downloadTask(with: request) }
        let file = try Self.files.get().write(upload, to: UUID().uuidString)
        return session.uploadTask(with: request, fromFile: file)
    }

    private func collect(_ session: URLSession, _ request: URLRequest, _ resumption: Data?) async -> Outcome {
        var outcome = Outcome()
        do {
            (outcome.body, _) =
                if let resumption { try await session.upload(resumeFrom: resumption) } else {
                    try await session.data(for: request)
                }
        } catch {
            outcome.error = error as? URLError ?? URLError(.unknown)
        }
        return outcome
    }

    private func exchange(
        _ task: URLSessionWebSocketTask, _ watch: TaskWatch
    ) async -> (Outcome, URLSessionTaskMetrics?) {
        var outcome = Outcome()
        do {
            task.resume()
            try await task.send(.string("hello"))
            if case .string(let text) = try await task.receive() { outcome.body = Data(text.utf8) }
        } catch {
            outcome.error = error as? URLError ?? URLError(.unknown)
        }
        task.cancel(with: .normalClosure, reason: nil)
        let (end, metrics) = await watch.end(of: task)
        outcome.status = end.status
        return (outcome, metrics)
    }

    private func exchange(
        _ task: URLSessionStreamTask, _ watch: TaskWatch
    ) async -> (Outcome, URLSessionTaskMetrics?) {
        var outcome = Outcome()
        do {
            task.resume()
            if usesTLS { task.startSecureConnection() }
            try await task.write(Data("hello".utf8), timeout: 0)
            outcome.body = try await task.readData(ofMinLength: 5, maxLength: 5, timeout: 0).0 ?? Data()
        } catch {
            outcome.error = error as? URLError ?? URLError(.unknown)
        }
        task.cancel()
        let (_, metrics) = await watch.end(of: task)
        return (outcome, metrics)
    }

    // MARK: What is resumed

    /// Breaks off the first half of a download or an upload, in a session that the trial's settings are not for.
    private func makeResumption(_ peer: any MatrixPeer, _ port: UInt16) async throws -> Data? {
        guard path == .resumedDownload || path == .resumedUpload, let peer = peer as? HTTPPeer else { return nil }
        guard hasFirstPart else { return try makeResumeData(port) }
        let watch = TaskWatch(onInterim: { peer.uploads?.interimSeen.fire() })
        let session = URLSession(
            configuration: makeConfiguration(changed: appliesToFirstPart), delegate: watch, delegateQueue: nil)
        let request = try makeRequest(port)
        let data =
            path == .resumedDownload
            ? await cancelDownload(session, request, watch) : await breakUpload(session, request, watch, peer)
        // The server's observations are those of the second part.
        session.invalidateAndCancel()
        await peer.server.endings.count(reaches: peer.openings.count)
        return data
    }

    /// As if half of it had been loaded or sent.
    private func makeResumeData(_ port: UInt16) throws -> Data? {
        var request = try makeRequest(port)
        guard let url = request.url else { return nil }
        if path == .resumedUpload {
            request.httpBody = Data(HTTPPeer.content)
            return UploadResumption(request, goingOnAt: url).resumeData
        }
        let response = HTTPURLResponse(
            url: url, statusCode: 200, httpVersion: nil, headerFields: ["ETag": "\"v1\"", "Accept-Ranges": "bytes"])
        let data = ResumeData(
            request, response, .declared, firstURL: nil, fileName: DownloadFolder.newName(), count: 500)
        return data?.encoded
    }

    private func cancelDownload(_ session: URLSession, _ request: URLRequest, _ watch: TaskWatch) async -> Data? {
        let task = session.downloadTask(with: request)
        task.resume()
        _ = await watch.written.contents { $0.last == 500 }
        return await task.cancelByProducingResumeData()
    }

    private func breakUpload(
        _ session: URLSession, _ request: URLRequest, _ watch: TaskWatch, _ peer: HTTPPeer
    ) async -> Data? {
        // The server cannot say for a long time whether it goes on.
        peer.uploads?.change {
            $0.breaks = [500]
            $0.retrievals = [ServerResponse(503).adding("Retry-After", "86400")]
        }
        let task = session.uploadTask(with: request, from: Data(HTTPPeer.content))
        task.resume()
        let (outcome, _) = await watch.end(of: task)
        peer.uploads?.change { $0.retrievals = [] }
        return outcome.error?.uploadTaskResumeData
    }
}

/// An interceptor that changes nothing.
private struct Forwarding: LoadInterceptor {
    func load(_ load: LoadContext) async throws { try await load.receive(load.next.load(load.request)) }
}
