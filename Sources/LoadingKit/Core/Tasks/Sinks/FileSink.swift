import Foundation
import LoadingKitTransport

/// Puts what a download task loads into its file.
final class FileSink: PieceSink, @unchecked Sendable {  // confined to the task's loop
    /// A download that goes on where an earlier one ended, until the server has answered whether it can.
    private struct Resuming {
        let data: ResumeData
        /// Bytes that are in the file.
        let offset: Int64
        /// Asks for all of the resource.
        let whole: URLRequest
    }

    private let task: URLSessionDownloadTask
    private let recipient: FileRecipient
    @exclusivity(unchecked) var pieces: PieceBuffer
    /// Writes the file, once there is one.
    private var spool: DownloadSpool?
    /// Has the content in its codings, as a download that breaks goes on from that, where the other has it decoded.
    private var codedSpool: DownloadSpool?
    /// The codings of a download that has gone on, whose content is decoded when it is complete.
    private var coding: String?
    private var resuming: Resuming?
    /// Whether the delegate is still to be told that nothing of an earlier download is used.
    private var beginsAnew = false
    /// Where the file is, once it is complete.
    private var location: URL?

    init(_ task: URLSessionDownloadTask, _ recipient: FileRecipient, _ core: SessionCore) {
        self.task = task
        self.recipient = recipient
        pieces = PieceBuffer(core.chunks)
    }

    // MARK: Beginning

    func prepare(_ request: URLRequest, for engine: TaskEngine) {
        guard let resumption = task.resumption else {
            open(DownloadFile(), for: engine)
            return engine.load(prepared: request)
        }
        engine.runOnPool(
            {
                let data = try resumption.get()
                return (data, try DownloadFile(resuming: data.fileName, count: data.count))
            },
            { [self] (data: ResumeData, file: DownloadFile) in
                open(file, for: engine)
                guard file.count > 0 else {
                    beginsAnew = true
                    return engine.load(prepared: request)
                }
                resuming = Resuming(data: data, offset: file.count, whole: request)
                engine.load(changed: data.rest(of: request, from: file.count))
            })
    }

    func open(_ file: DownloadFile, for engine: TaskEngine) {
        let spool = DownloadSpool(engine.loop, file)
        // The engine holds this sink; a weak reference of its own would cost an allocation.
        spool.body.onWritten = { [weak engine] count in
            if let engine, let sink = engine.sink as? FileSink { sink.didWrite(count, engine) }
        }
        spool.body.onFailure = { [weak engine] in engine?.end(with: $0) }
        self.spool = spool
    }

    /// A file gets the body as it is.
    func split(_ response: URLResponse, by reader: MixedReplaceReader) -> any TaskSink { self }

    // MARK: Receiving

    /// Decides where the response's bytes go: behind those that are there, or in their place.
    func receive(_ response: URLResponse, isPart: Bool, for engine: TaskEngine) -> SinkAction {
        if let resuming = resuming.take() {
            let answer = response as? HTTPURLResponse
            if let answer, resuming.data.isContinued(by: answer, from: resuming.offset) {
                if !engine.core.settings.keepsContentCodings(of: resuming.whole) { coding = resuming.data.coding }
                goOn(from: resuming.offset, answer, engine)
                return .proceed
            }
            spool?.body.startOver()
            beginsAnew = true
            // Other bytes than those asked for: all of them are asked for, then. So are they where they come in codings that
            // were to be left alone for the part's sake.
            let isCoded = resuming.data.coding != nil && answer?.value(forHTTPHeaderField: "Content-Encoding") != nil
            if answer?.statusCode == 206 || answer?.statusCode == 416 || isCoded { return .reload(resuming.whole) }
        }
        keepCoded(response, engine)
        if beginsAnew { report(resumedAt: 0, of: response.expectedContentLength, engine) }
        beginsAnew = false
        return .proceed
    }

    /// Begins to keep the content in its codings, where the download could go on from that.
    private func keepCoded(_ response: URLResponse, _ engine: TaskEngine) {
        dropCoded()
        guard let request = task.currentRequest, !engine.core.settings.keepsContentCodings(of: request),
            ResumeData(request, response, firstURL: nil, fileName: "", count: 1, isCoded: true) != nil
        else { return }
        let spool = DownloadSpool(engine.loop, DownloadFile())
        spool.body.onWritten = { [weak engine] _ in
            if let engine, let sink = engine.sink as? FileSink { sink.didWrite(0, engine) }
        }
        // The download is complete without it, and no longer waits for it.
        spool.body.onFailure = { [weak engine] _ in
            guard let engine, let sink = engine.sink as? FileSink else { return }
            sink.dropCoded()
            sink.didWrite(0, engine)
        }
        codedSpool = spool
    }

    private func dropCoded(_ done: @escaping () -> Void = {}) {
        guard let spool = codedSpool.take() else { return done() }
        spool.body.settle { spool.end(keepsFile: false, done) }
    }

    private func goOn(from offset: Int64, _ response: HTTPURLResponse, _ engine: TaskEngine) {
        let range = response.value(forHTTPHeaderField: "Content-Range").flatMap(ContentRange.init)
        let rest = response.expectedContentLength
        let expected = range?.total ?? (rest < 0 ? NSURLSessionTransferSizeUnknown : offset &+ rest)
        task.receivedCount.store(offset, ordering: .relaxed)
        task.shared.withLock { $0.expectedToReceive = expected }
        report(resumedAt: offset, of: expected, engine)
    }

    private func report(resumedAt offset: Int64, of expected: Int64, _ engine: TaskEngine) {
        guard let delegates = engine.delegates else { return }
        engine.core.mailbox.post(for: task) { [task, session = engine.session] in
            delegates.didResume(session, task, at: offset, expected: expected)
        }
    }

    func deliver(_ piece: Data, for engine: TaskEngine) -> SinkAction {
        guard let spool else { return .proceed }
        spool.body.append(piece, of: task.countOfBytesExpectedToReceive)
        return isBehind ? .hold(.behind) : .proceed
    }

    func receive(coded bytes: UnsafeRawBufferPointer) { codedSpool?.body.append(Data(bytes), of: -1) }

    private var isBehind: Bool { spool?.body.isBehind == true || codedSpool?.body.isBehind == true }

    private func didWrite(_ count: Int64, _ engine: TaskEngine) {
        guard let spool else { return }
        if count > 0, let delegates = engine.delegates {
            let (total, expected) = (spool.body.count, task.countOfBytesExpectedToReceive)
            engine.core.mailbox.postEnd(of: task) { [task, session = engine.session] in
                delegates.didWrite(count, session, task, total: total, expected: expected)
            }
        }
        if !isBehind, engine.hold.contains(.behind) { engine.release(.behind) }
    }

    // MARK: The end

    /// The load has succeeded; the file is complete when all is written.
    func finish(for engine: TaskEngine) -> SinkAction {
        guard let spool else { return .proceed }
        engine.perform(flush(for: engine))
        dropCoded {
            spool.finish { [self] result in
                guard !engine.isOver else { return }
                switch result {
                case .success(let location): decode(location, engine)
                case .failure(let error): engine.end(with: error)
                }
            }
        }
        return .hold(.completing)
    }

    /// What has gone on as parts of the content in its codings is decoded as a whole.
    private func decode(_ file: URL, _ engine: TaskEngine) {
        guard let coding else { return complete(file, engine) }
        let ratio = engine.core.settings.maximumDecompressionRatio
        BlockingPool.shared.run { [loop = engine.loop] in
            let result = Result { try CodedDownload.decode(file, coding, ratio: ratio) }
            loop.perform { [self] in
                switch result {
                case .success(let file) where engine.isOver: Self.remove(file)
                case .success(let file): complete(file, engine)
                case .failure(let error):
                    if !engine.isOver { engine.end(with: error) }
                }
            }
        }
    }

    private func complete(_ file: URL, _ engine: TaskEngine) {
        location = file
        engine.release(.completing)
    }

    /// The load has failed, with an error that says what the download can be resumed from; or it was cancelled, by a program
    /// that has asked for that. Without resume data the file is of no use.
    func settle(_ error: any Error, for engine: TaskEngine, _ report: @escaping (any Error) -> Void) {
        guard let spool else { return report(error) }
        guard let coded = codedSpool.take() else { return settle(error, spool, isCoded: keepsCodings(engine), report) }
        spool.body.settle {
            spool.end(keepsFile: false) { [self] in settle(error, coded, isCoded: true, report) }
        }
    }

    /// Whether the file has the content in its codings, where it has some.
    private func keepsCodings(_ engine: TaskEngine) -> Bool {
        coding != nil || task.currentRequest.map { engine.core.settings.keepsContentCodings(of: $0) } == true
    }

    private func settle(
        _ error: any Error, _ spool: DownloadSpool, isCoded: Bool, _ report: @escaping (any Error) -> Void
    ) {
        spool.body.settle { [self] in
            let data = resumeData(spool, isCoded: isCoded, error)
            var error = error
            if let failure = error as? URLError, let data {
                var information = failure.userInfo
                information[NSURLSessionDownloadTaskResumeData] = data
                error = URLError(failure.code, userInfo: information)
            }
            // Not before: the recipient of the report may resume the download at once, or look whether the file is gone.
            spool.end(keepsFile: data != nil) { [error] in report(error) }
        }
    }

    private func resumeData(_ spool: DownloadSpool, isCoded: Bool, _ error: any Error) -> Data? {
        guard let error = error as? URLError else { return nil }
        if error.code == .cancelled, !task.isAskedForResumeData { return nil }
        // Not answered yet: it can be resumed from where this was to go on.
        if let resuming { return resuming.data.encoded }
        guard var request = task.currentRequest, let response = task.response as? HTTPURLResponse else { return nil }
        // The program did not ask for that: the part that it goes on from is so.
        if coding != nil { request.keepsContentCodings = false }
        let hasCodings = response.value(forHTTPHeaderField: "Content-Encoding") != nil
        var data = ResumeData(
            request, response, firstURL: task.firstURL, fileName: spool.name, count: spool.body.count,
            isCoded: isCoded && hasCodings)
        data?.user = request.url.flatMap { task.session?.core.namedUsers.word(for: $0) }
        return data?.encoded
    }

    func reportEnd(_ error: (any Error)?, for engine: TaskEngine) {
        let location = error == nil ? location : nil
        switch recipient {
        case .delegate:
            engine.reportEnd(error, to: .delegate) {
                if let location { report(location, engine) }
            } last: { _ in
                engine.reportEndToDelegate(error)
            }
        case .completion(let handler):
            engine.reportEnd(error, to: .handler) { response in
                engine.core.mailbox.post { [task] in
                    handler(location, response, error)
                    if let location { Self.remove(location) }
                    task.letGo()
                }
            }
        case .continuation(let continuation):
            engine.reportEnd(error, to: .caller) { response in
                engine.resume(continuation, with: result(location, response, error))
            }
        }
    }

    /// The delegate learns where the file is before anything else of the end.
    private func report(_ location: URL, _ engine: TaskEngine) {
        engine.core.mailbox.postEnd(of: task, isFirst: true) {
            [task, session = engine.session, delegates = engine.delegates] in
            if task.settle(nil, heedsCancellation: true) == nil { delegates?.didFinish(session, task, at: location) }
            Self.remove(location)
        }
    }

    private func result(
        _ location: URL?, _ response: URLResponse?, _ error: (any Error)?
    ) -> Result<(URL, URLResponse), any Error> {
        guard let location, let response else {
            return .failure(error ?? URLError(LoadFailure.withoutResponse, url: task.currentRequest?.url))
        }
        return .success((location, response))
    }

    /// Unless it was moved meanwhile.
    private static func remove(_ location: URL) { _ = SystemCalls.unlink(location.path) }
}
