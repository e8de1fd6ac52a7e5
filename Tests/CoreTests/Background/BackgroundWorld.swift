import Dispatch
import Foundation
import Glibc
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport

@testable import LoadingKitCore

/// A background session, its delegate, and a stand-in for what performs its transfers.
final class BackgroundWorld: @unchecked Sendable {  // used by one test's task
    let transfers = StandInTransfers()
    let delegate = BackgroundDelegate()
    private var held: URLSession?
    private var calls: AsyncStream<String>.Iterator
    private var commands: AsyncStream<String>.Iterator
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    /// - Parameters:
    ///   - attached: Whether the session is attached, and finds nothing.
    ///   - atOnce: What it finds, where it is attached before it goes on.
    ///   - change: What else is set.
    init(
        attached: Bool = false, atOnce: SessionState? = nil, _ change: (inout SessionSettings) -> Void = { _ in }
    ) {
        calls = delegate.calls.makeAsyncIterator()
        commands = transfers.log.makeAsyncIterator()
        transfers.stateAtOnce.withLock { $0 = atOnce }
        let configuration = URLSessionConfiguration(settings: SessionSettings())
        configuration.settings.builtInHandlers = [ResumingHandler.self]
        change(&configuration.settings)
        let transfers = transfers
        delegate.isFree.withLock { $0 = { transfers.isFree } }
        configuration.settings.makeBackground = BackgroundSession.maker { settings in
            transfers.channels(
                for: try SessionDescription(settings, identifier: "test", program: "test", storeFolder: nil))
        }
        held = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        if attached { send(.attached(SessionState(nextIdentifier: 1, transfers: []))) }
    }

    var session: URLSession { held ?? URLSession(configuration: URLSessionConfiguration(settings: SessionSettings())) }

    func letGoOfSession() { held = nil }

    func send(_ event: TransferEvent) { transfers.send(event) }

    /// The delegate's next call, in words.
    func next() async -> String? { await calls.next() }

    /// The next command but those that begin transfers and take their ends.
    func command() async -> String? { await commands.next() }

    var begun: [TransferRecord] { transfers.begun.withLock { $0 } }
    var taken: [TransferStatus.Part] { transfers.taken.withLock { $0 } }

    /// Waits until so many parts were taken.
    func takenParts(_ count: Int) async -> [TransferStatus.Part] {
        for await parts in transfers.takes where parts.count >= count { return parts }
        return []
    }

    func file(_ content: String) throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent(UUID().uuidString)
        try Data(content.utf8).write(to: file)
        return file.path
    }

    /// The session would live as long as the process.
    func finish() {
        send(.detached(TransferError(.backgroundSessionWasDisconnected, "the test is over")))
        held = nil
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}

/// Performs nothing; notes what is commanded.
final class StandInTransfers: BackgroundTransfers {
    /// What a session finds that is attached before it goes on.
    let stateAtOnce = Guarded<SessionState?>(nil)
    let begun = Guarded<[TransferRecord]>([])
    let taken = Guarded<[TransferStatus.Part]>([])
    let log: AsyncStream<String>
    let takes: AsyncStream<[TransferStatus.Part]>
    private let logInput: AsyncStream<String>.Continuation
    private let takeInput: AsyncStream<[TransferStatus.Part]>.Continuation
    private let refusal = Guarded<(any Error)?>(nil)
    private let early = Guarded<TransferEvent?>(nil)
    private let contents = Guarded<[String]>([])
    private let free = Guarded(true)
    private let receiver = Guarded<(@Sendable (TransferEvent) -> Void)?>(nil)

    init() {
        (log, logInput) = AsyncStream.makeStream()
        (takes, takeInput) = AsyncStream.makeStream()
    }

    /// Whether another session may have the identifier.
    var isFree: Bool { free.withLock { $0 } }

    var descriptorContents: [String] { contents.withLock { $0 } }

    /// What comes of the next transfer before it is known that it has begun.
    func sayEarly(_ event: TransferEvent) { early.withLock { $0 = event } }

    func refuseNext(_ error: any Error) { refusal.withLock { $0 = error } }

    func send(_ event: TransferEvent) {
        switch event {
        case .attached: free.withLock { $0 = false }
        case .detached: free.withLock { $0 = true }
        case _: break
        }
        receiver.withLock { $0 }?(event)
    }

    func makeChannel(
        for session: SessionDescription, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferChannel {
        receiver.withLock { $0 = receive }
        return Channel(self)
    }

    fileprivate func perform(_ command: TransferCommand, _ descriptors: [OwnedDescriptor]) throws {
        switch command {
        case .begin(let transfer):
            begun.withLock { $0.append(transfer) }
            contents.withLock { $0 += descriptors.map { Self.content($0.number) } }
            let error = refusal.withLock { refusal in
                defer { refusal = nil }
                return refusal
            }
            if let error { throw error }
            if let event = early.withLock({ $0 }) { send(event) }
        case .take(_, let part):
            takeInput.yield(
                taken.withLock { taken in
                    taken.append(part)
                    return taken
                })
        case .suspend(let task): logInput.yield("suspend \(task)")
        case .resume(let task): logInput.yield("resume \(task)")
        case .cancel(let task, let wantsData): logInput.yield("cancel \(task)\(wantsData ? " for data" : "")")
        case .change(let task, let priority, _): logInput.yield("change \(task) \(priority)")
        case .answerBeginning(let task, let request): logInput.yield("begin \(task) \(request?.url ?? "nothing")")
        case .answerChallenge(let task, let number, let reply):
            let words = [reply.user, reply.password].compactMap { $0 }.joined(separator: " ")
            let trust = reply.trustsServer ? " trusts" : ""
            let origin = reply.isFromDelegate == true ? "" : " by default"
            logInput.yield("answer \(task) \(number) \(reply.disposition) \(words)\(trust)\(origin)")
        case .endSession:
            free.withLock { $0 = true }
            logInput.yield("end")
        case .reset: logInput.yield("reset")
        case .flush: logInput.yield("flush")
        }
    }

    private static func content(_ descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 1000)
        let count = read(descriptor, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }

    fileprivate func detach() { logInput.yield("detached") }

    private final class Channel: TransferChannel {
        private let transfers: StandInTransfers

        init(_ transfers: StandInTransfers) { self.transfers = transfers }

        func attach() { if let state = transfers.stateAtOnce.withLock({ $0 }) { transfers.send(.attached(state)) } }

        func send(
            _ command: TransferCommand, descriptors: [OwnedDescriptor],
            completion: @escaping @Sendable ((any Error)?) -> Void
        ) {
            do {
                try transfers.perform(command, descriptors)
                completion(nil)
            } catch {
                completion(error)
            }
        }

        func detach() { transfers.detach() }
    }
}

/// Says what it is called with.
final class BackgroundDelegate: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate, @unchecked Sendable {
    let calls: AsyncStream<String>
    let beginning = Guarded(URLSession.DelayedRequestDisposition.continueLoading)
    /// Its second answer to the same call.
    let secondBeginning = Guarded<URLSession.DelayedRequestDisposition?>(nil)
    /// The request with which it replaces a task's.
    let newRequest = Guarded(URL(string: "http://127.0.0.1/other").map { URLRequest(url: $0) })
    /// The trust that it accepts in each challenge, in place of giving a password.
    let trusted = Guarded<ServerTrust?>(nil)
    let metrics = Recorder<URLSessionTaskMetrics>()
    private let input: AsyncStream<String>.Continuation
    private let gate = Guarded<DispatchSemaphore?>(nil)
    /// Whether another session may have the session's identifier.
    let isFree = Guarded<@Sendable () -> Bool>({ true })

    override init() { (calls, input) = AsyncStream.makeStream() }

    /// The next call returns when the semaphore is signalled.
    func holdNextCall() -> DispatchSemaphore {
        let semaphore = DispatchSemaphore(value: 0)
        gate.withLock { $0 = semaphore }
        return semaphore
    }

    private func note(_ call: String) {
        let held = gate.withLock { gate in
            defer { gate = nil }
            return gate
        }
        input.yield(call)
        held?.wait()
    }

    private static func text(_ error: (any Error)?) -> String { error.map { " \(($0 as NSError).code)" } ?? "" }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note("invalid\(Self.text(error))\(isFree.withLock { $0 }() ? "" : " while it is attached")")
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { note("all events") }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        note("finished \((try? String(contentsOf: location, encoding: .utf8)) ?? "nothing")")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        note("wrote \(bytesWritten) \(totalBytesWritten) of \(totalBytesExpectedToWrite)")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        note("resumed \(fileOffset) of \(expectedTotalBytes)")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("data \(String(decoding: data, as: UTF8.self))")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        note("sent \(bytesSent) \(totalBytesSent) of \(totalBytesExpectedToSend)")
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) { note("waits") }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        completionHandler(beginning.withLock { $0 }, newRequest.withLock { $0 })
        guard let second = secondBeginning.withLock({ $0 }) else { return }
        completionHandler(second, newRequest.withLock { $0 })
        note("answered twice")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("challenge \(challenge.protectionSpace.realm ?? "") \(challenge.previousFailureCount)")
        if let trust = trusted.withLock({ $0 }) {
            return completionHandler(.useCredential, URLCredential(trust: trust))
        }
        completionHandler(.useCredential, URLCredential(user: "user", password: "secret", persistence: .none))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.metrics.append(metrics)
        note("metrics")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("completed\(Self.text(error))")
    }
}

extension TransferRecord {
    static let url = URL(string: "http://127.0.0.1/one") ?? URL(fileURLWithPath: "/")

    static func download(_ identifier: Int, _ text: String? = nil) -> TransferRecord {
        make(identifier, .download, text)
    }

    static func upload(_ identifier: Int) -> TransferRecord { make(identifier, .upload, nil) }

    private static func make(_ identifier: Int, _ kind: Kind, _ text: String?) -> TransferRecord {
        var transfer = TransferRecord(
            identifier: identifier, kind: kind, request: TransferRequest(URLRequest(url: url)) ?? .empty)
        transfer.taskDescription = text
        return transfer
    }
}

extension TransferRequest {
    fileprivate static var empty: TransferRequest {
        guard let request = TransferRequest(URLRequest(url: URL(fileURLWithPath: "/"))) else {
            preconditionFailure("a request with a URL can be kept")
        }
        return request
    }
}

extension TransferStatus {
    static func success(file: String) -> TransferStatus {
        let response = HTTPURLResponse(
            url: TransferRecord.url, statusCode: 200, httpVersion: nil, headerFields: nil)
        let now = Date()
        let metrics = URLSessionTaskMetrics(
            transactionMetrics: [], taskInterval: DateInterval(start: now, duration: 1), redirectCount: 0)
        var end = TransferStatus(response: response.flatMap { TransferResponse($0) }, file: file)
        end.metrics = TransferMetrics(metrics)
        return end
    }

    static func failure(_ code: URLError.Code) -> TransferStatus {
        TransferStatus(error: TransferError(code, "it failed"))
    }
}

/// The class of the transfers' scheme. It loads nothing.
private final class ResumingHandler: URLProtocolHandler, LoopAwareHandler, @unchecked Sendable {
    static let resumesUploads = true

    override class func canInit(with request: URLRequest) -> Bool {
        request.url.map { $0.hasScheme("http") || $0.hasScheme("https") } ?? false
    }
}
