import CSimulatedSystem
import Foundation
import LoadingKit
import Synchronization
import TestSupport

/// One load of a resource, in one of the ways that there are, and what may come of it.
struct Load: Sendable {
    let resource: Resource
    let url: URL
    private let request: URLRequest
    /// The user or the language of a request for a personal resource.
    private let who: String
    private let network: Network
    private let ledger: Ledger
    /// When it began, in milliseconds.
    private let start = sim_time() / 1_000_000
    /// Whether the program disturbs it: cancels, suspends, blocks.
    private let disturbs: Bool

    init(_ resource: Resource, _ url: URL, _ network: Network, _ ledger: Ledger, disturbs: Bool = true) {
        (self.resource, self.url, self.network, self.ledger) = (resource, url, network, ledger)
        who = resource.kind == .personal ? "\(resource.isByLanguage ? "" : "Bearer ")u\(sim_random(3))" : ""
        request = Self.request(resource, url, who)
        self.disturbs = disturbs
        sim_trace("loads \(url)")
    }

    private static func request(_ resource: Resource, _ url: URL, _ who: String) -> URLRequest {
        var request = URLRequest(url: url)
        switch resource.kind {
        case .parts, .changing: request.setValue("own", forHTTPHeaderField: "X-Own")
        case .personal:
            request.setValue(who, forHTTPHeaderField: resource.isByLanguage ? "Accept-Language" : "Authorization")
        case .elsewhere where resource.number % 2 == 0:
            request.setValue(Servers.login(of: resource.client), forHTTPHeaderField: "Authorization")
        default: break
        }
        return request
    }

    /// After how many milliseconds the program cancels it; nil for never.
    private func cancellation() -> Int? {
        guard disturbs, sim_random(5) == 0 else { return nil }
        return sim_random(2) == 0 ? Int(sim_random(20)) : Int(sim_random(3000))
    }

    // MARK: Ways

    func data(_ session: URLSession) async {
        await asynchronously { [request] in
            let (data, response) = try await session.data(for: request)
            return (Array(data), response)
        }
    }

    func bytes(_ session: URLSession) async {
        await asynchronously { [request] in
            let (bytes, response) = try await session.bytes(for: request)
            var body: [UInt8] = []
            for try await byte in bytes { body.append(byte) }
            return (body, response)
        }
    }

    func download(_ session: URLSession) async {
        await asynchronously { [request] in
            let (file, response) = try await session.download(for: request)
            defer { try? FileManager.default.removeItem(at: file) }
            return (Array(try Data(contentsOf: file)), response)
        }
    }

    enum UploadBody: UInt64 { case data, request, file }

    func upload(_ session: URLSession, in kind: UploadBody? = nil) async {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let body = Data(resource.body())
        switch kind ?? UploadBody(rawValue: sim_random(3)) {
        case .data, nil:
            await asynchronously { [request] in
                let (data, response) = try await session.upload(for: request, from: body)
                return (Array(data), response)
            }
        case .request:
            request.httpBody = body
            await asynchronously { [request] in
                let (data, response) = try await session.data(for: request)
                return (Array(data), response)
            }
        case .file:
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(resource.number)")
            do { try body.write(to: file) } catch { return ledger.violation("no file to upload: \(error)") }
            await asynchronously { [request] in
                let (data, response) = try await session.upload(for: request, fromFile: file)
                return (Array(data), response)
            }
            try? FileManager.default.removeItem(at: file)
        }
    }

    /// - Parameter load: gives the body and the response.
    private func asynchronously(_ load: @escaping @Sendable () async throws -> ([UInt8], URLResponse)) async {
        let cancellation = self.cancellation()
        let task = Task { try await load() }
        if let cancellation {
            try? await Task.sleep(for: .milliseconds(cancellation))
            task.cancel()
        }
        switch await task.result {
        case .success(let (body, response)): succeeded(body, response)
        case .failure(let error): failed(error, isCancelled: cancellation != nil)
        }
    }

    func withCompletionHandler(_ session: URLSession) async {
        let cancellation = self.cancellation()
        let isEnded = Atomic<Bool>(false)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let task = session.dataTask(with: request) { data, response, error in
                if isEnded.exchange(true, ordering: .relaxed) { return ledger.violation("\(resource) ended twice") }
                if let error {
                    failed(error, isCancelled: cancellation != nil)
                } else if let data, let response {
                    succeeded(Array(data), response)
                } else {
                    ledger.violation("\(resource): neither a response nor an error")
                }
                continuation.resume()
            }
            ledger.mustEnd(task, "the task of \(resource)")
            interfere(with: task, cancellation)
        }
    }

    func withDelegate(_ session: URLSession) async {
        let cancellation = self.cancellation()
        let recorder = TaskRecorder(resource, ledger, disturbs: disturbs, isCancelled: cancellation != nil)
        let task = session.dataTask(with: request)
        ledger.mustEnd(task, "the task of \(resource)")
        ledger.mustEnd(recorder, "the delegate of \(resource)")
        task.delegate = recorder
        interfere(with: task, cancellation, maySuspend: !recorder.suspends)
        let outcome = await recorder.outcome()
        switch outcome {
        case .success(let (body, response)): succeeded(body, response)
        case .failure(let error): failed(error, isCancelled: cancellation != nil || recorder.mayCancel)
        }
    }

    /// Suspends and resumes the task at times, and cancels it.
    private func interfere(with task: URLSessionTask, _ cancellation: Int?, maySuspend: Bool = true) {
        task.resume()
        let suspends = disturbs && sim_random(6) == 0 && maySuspend
        Task {
            if suspends {
                try? await Task.sleep(for: .milliseconds(Int(sim_random(200))))
                task.suspend()
                try? await Task.sleep(for: .milliseconds(Int(sim_random(20_000))))
                task.resume()
            }
            guard let cancellation else { return }
            try? await Task.sleep(for: .milliseconds(cancellation))
            task.cancel()
        }
    }

    /// A download that is cancelled, and goes on with its resume data.
    func downloadWithResumption(_ session: URLSession) async {
        var resumeData: Data?
        for attempt in 0..<4 {
            let cancels = attempt < 3 && sim_random(2) == 0
            let result = await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
                @Sendable func end(_ file: URL?, _ response: URLResponse?, _ error: (any Error)?) {
                    guard let file, let response else {
                        return continuation.resume(returning: .failure(error ?? Lost()))
                    }
                    let body = (try? Data(contentsOf: file)).map { Array($0) } ?? []
                    continuation.resume(returning: .success((body, response)))
                }
                let task =
                    resumeData.map { session.downloadTask(withResumeData: $0, completionHandler: end) }
                    ?? session.downloadTask(with: request, completionHandler: end)
                task.resume()
                guard cancels else { return }
                Task {
                    let waits = sim_random(2) == 0
                    try? await Task.sleep(for: .milliseconds(Int(sim_random(500))))
                    if waits { await Self.waitForBody(task) }
                    task.cancel { _ in }
                }
            }
            switch result {
            case .success(let (body, response)): return succeeded(body, response)
            case .failure(let error):
                resumeData = (error as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
                if !cancels { return failed(error, isCancelled: false) }
            }
        }
    }

    /// Until all bytes have come, and the file is being closed.
    private static func waitForBody(_ task: URLSessionTask) async {
        while task.state == .running {
            let expected = task.countOfBytesExpectedToReceive
            if expected > 0, task.countOfBytesReceived >= expected { return }
            try? await Task.sleep(for: .milliseconds(1 + Int(sim_random(20))))
        }
    }

    // MARK: Files of an ftp server

    /// The server misbehaves at times, so the load may fail; what it gets is the file.
    func file(_ session: URLSession, _ server: FaultyFTPServer) async {
        guard let url = URL(string: server.url()) else { return }
        let name = server.isProtected ? "ftp with TLS" : "ftp"
        var request = URLRequest(url: url)
        if server.isProtected { request.setValue("required", forHTTPHeaderField: "FTP-TLS") }
        do {
            let (data, _) = try await session.data(for: request)
            if Array(data) != FaultyFTPServer.file { ledger.violation("\(name): \(data.count) bytes are not the file") }
            ledger.note("\(name) succeeded")
        } catch let error as URLError {
            ledger.note("\(name) failed: \(error.code.rawValue)")
            if network.isReliable, server.hadNoFaults { ledger.violation("\(name) failed: \(error)") }
        } catch let error as Interceptors.Refusal {
            if error.path != url.path { ledger.violation("ftp: \(error) is another load's") }
        } catch {
            ledger.violation("ftp: \(error)")
        }
    }

    // MARK: WebSockets

    /// Over a connection that has fallen silent a WebSocket would wait for its time-out, which is a week.
    private func giveUpLater(_ task: URLSessionWebSocketTask) -> Task<Void, Never>? {
        guard network.mayFallSilent else { return nil }
        return Task { [weak task] in
            do { try await Task.sleep(for: .seconds(600)) } catch { return }
            task?.cancel()
        }
    }

    /// A WebSocket task that was resumed.
    private func webSocket(_ session: URLSession) -> URLSessionWebSocketTask? {
        var address = URLComponents(url: url, resolvingAgainstBaseURL: false)
        address?.scheme = url.scheme == "http" ? "ws" : "wss"
        guard let url = address?.url else { return nil }
        let task = session.webSocketTask(with: url)
        ledger.mustEnd(task, "the WebSocket of \(resource)")
        task.resume()
        return task
    }

    /// Messages that come back, in their order.
    func messages(_ session: URLSession) async {
        guard let task = webSocket(session) else { return }
        let patience = giveUpLater(task)
        defer { patience?.cancel() }
        let isCancelled = disturbs && sim_random(6) == 0
        if isCancelled {
            Task { [sleep = Int(sim_random(500))] in
                try? await Task.sleep(for: .milliseconds(sleep))
                task.cancel(with: .goingAway, reason: nil)
            }
        }
        do {
            for number in 0..<Int(1 + sim_random(10)) {
                let message = Data(
                    Resource(.plain, client: number, number: resource.number, length: resource.length).body())
                async let answer = task.receive()
                try await task.send(.data(message))
                guard case .data(let data) = try await answer, data == message else {
                    return ledger.violation("\(resource): another message came back")
                }
            }
            ledger.note("messages came back")
            task.cancel(with: .normalClosure, reason: nil)
        } catch {
            task.cancel()
            checkTime()
            // As on Apple's systems: the connection has ended before the call.
            let isNotConnected = (error as NSError).domain == NSPOSIXErrorDomain && (error as NSError).code == ENOTCONN
            if isNotConnected, !network.isReliable || isCancelled { return ledger.note("messages: not connected") }
            if !(error is CancellationError) { failed(error, isCancelled: isCancelled || network.mayFallSilent) }
        }
    }

    /// The messages that a server sends before it closes come before the close.
    func listen(_ session: URLSession) async {
        guard let task = webSocket(session) else { return }
        let patience = giveUpLater(task)
        defer { patience?.cancel() }
        var count = 0
        do {
            while true {
                guard case .data(let data) = try await task.receive(), Array(data) == resource.message(count) else {
                    return ledger.violation("\(resource): another message than number \(count)")
                }
                count += 1
                if disturbs, sim_random(10) == 0 {
                    // Messages that nobody takes may be there, and more may come.
                    task.cancel(with: .goingAway, reason: nil)
                    return ledger.note("talk was left")
                }
                let isRefused = task.error is Interceptors.Refusal
                if network.isReliable, count < Resource.talkCount, task.state == .completed, !isRefused {
                    ledger.violation("\(resource): the end came before all messages")
                }
                if disturbs, sim_random(4) == 0 { try await Task.sleep(for: .milliseconds(Int(sim_random(2000)))) }
            }
        } catch {
            checkTime()
            ledger.note(count == Resource.talkCount ? "talk was heard" : "talk broke off")
            if network.isReliable, count < Resource.talkCount, !(error is Interceptors.Refusal) {
                ledger.violation("\(resource): \(count) messages came before \(error)")
            }
        }
    }

    // MARK: A server that is not trusted

    /// A task whose own delegate accepts the server's certificate loads from it, and no other does.
    func withOrWithoutTrust(_ session: URLSession) async {
        let accepts = sim_random(2) == 0
        do {
            let (data, response) = try await session.data(
                for: request, delegate: accepts ? AcceptingDelegate() : nil)
            guard accepts else { return ledger.violation("\(resource) was loaded from a server that is not trusted") }
            succeeded(Array(data), response)
        } catch let error as URLError where !accepts && Self.verdicts.contains(error.code) {
            ledger.note("not trusted")
        } catch {
            failed(error, isCancelled: false)
        }
    }

    struct Lost: Error {}
    typealias Outcome = Result<([UInt8], URLResponse), any Error>

    // MARK: What may come of it

    /// The longest that a load may take, in milliseconds: time-outs, suspensions and repetitions are minutes.
    private static let longest: UInt64 = 3_600_000

    private func checkTime() {
        let time = sim_time() / 1_000_000 - start
        if time > Self.longest { ledger.violation("\(resource) took \(time) ms") }
    }

    private func succeeded(_ body: [UInt8], _ response: URLResponse) {
        checkTime()
        guard let response = response as? HTTPURLResponse else { return ledger.violation("\(resource): \(response)") }
        // The server has seen a part of a request.
        if response.statusCode == 400, !network.isReliable { return ledger.note("\(resource.kind) status 400") }
        guard response.statusCode == 200 || response.statusCode == 206 else {
            return ledger.violation("\(resource): status \(response.statusCode)")
        }
        let named = response.value(forHTTPHeaderField: "X-Resource").flatMap { Resource(path: $0) }
        guard let named, named.number == resource.number, named.client == resource.client else {
            // What arrives after the next request was sent cannot be told from its answer: once in many worlds, a segment ends
            // just where the body does.
            let isLate = resource.kind == .hostile && named?.path == Hostility.behind.path
            if isLate, ledger.isFirst("what came behind a body was late") { return }
            return ledger.violation("\(resource) got another's response: \(named?.path ?? "nobody's")")
        }
        if resource.kind == .hostile, !Hostility(resource).mayBeGood {
            return ledger.violation("\(resource): \(Hostility(resource)) was taken for good")
        }
        if resource.kind == .hostileHTTP2, Misbehaviour.of(resource).truth == .fails {
            return ledger.violation("\(resource): \(Misbehaviour.of(resource).name) was taken for good")
        }
        if resource.kind == .personal, response.value(forHTTPHeaderField: "X-Who") != who {
            ledger.violation("\(resource): \(who) got what is for \(response.value(forHTTPHeaderField: "X-Who") ?? "")")
        }
        ledger.note("\(resource.kind) succeeded")
        let version = response.value(forHTTPHeaderField: "X-Version").flatMap { UInt64($0) }
        let expected = resource.body(version: version ?? 0)
        // What ends with the connection may end early.
        let isComplete = resource.kind == .close && !network.isReliable ? expected.starts(with: body) : body == expected
        if !isComplete { ledger.violation("\(resource): \(body.count) bytes are not its \(expected.count)") }
        if let version, resource.kind == .cached, start > version + UInt64(Servers.greatestAge * 1000) + 1000 {
            ledger.violation("\(resource): made at \(version) ms, too old for a load at \(start) ms")
        }
    }

    /// A certificate that OpenSSL could not verify for want of memory is not trusted.
    private static let verdicts: Set<URLError.Code> = [.serverCertificateUntrusted, .serverCertificateHasUnknownRoot]

    private func failed(_ error: any Error, isCancelled: Bool) {
        checkTime()
        if let refusal = error as? Interceptors.Refusal {
            let isOwn = Resource(path: refusal.path)?.number == resource.number
            return isOwn ? ledger.note("refused") : ledger.violation("\(resource): \(refusal) is another load's")
        }
        guard let error = error as? URLError else {
            if !(isCancelled && error is CancellationError) { ledger.violation("\(resource): \(error)") }
            return
        }
        ledger.note("\(resource.kind) failed: \(error.code.rawValue)")
        if error.code == .cancelled, isCancelled { return }
        guard !network.isReliable || mayFail else { return ledger.violation("\(resource) failed: \(error)") }
        if network.hasFaults, Self.verdicts.contains(error.code) { return }
        if !Self.failures.contains(error.code) { ledger.violation("\(resource) failed in another way: \(error)") }
    }

    /// Whether the server may be the cause of a failure.
    private var mayFail: Bool {
        switch resource.kind {
        case .hostile: !Hostility(resource).isGood
        case .hostileHTTP2:
            Misbehaviour.of(resource).truth != .succeeds || !ledger.isUnharmed(resource.number, since: start)
        default: false
        }
    }

    /// What loads from networks that are not reliable may fail with.
    private static let failures: Set<URLError.Code> = [
        .timedOut, .networkConnectionLost, .cannotConnectToHost, .secureConnectionFailed, .badServerResponse,
        .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData, .notConnectedToInternet,
        .noPermissionsToReadFile, .cannotCreateFile, .cannotOpenFile, .cannotWriteToFile, .cannotCloseFile,
        .cannotMoveFile, .cannotRemoveFile,
    ]
}
