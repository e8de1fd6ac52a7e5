import Foundation
import LoadingKitTransport

/// Writes a download task's body into its file.
final class FileSink: PieceSink, @unchecked Sendable {  // confined to the task's loop
    /// A download that continues an earlier one, until the server has answered whether it can.
    private struct Resuming {
        let data: ResumeData
        /// The number of bytes in the file.
        let offset: Int64
        /// The request for the complete resource.
        let whole: URLRequest
    }

    private let task: URLSessionDownloadTask
    private let recipient: FileRecipient
    @exclusivity(unchecked) var pieces: PieceBuffer
    /// Writes the file, once there is one.
    private var spool: DownloadSpool?
    /// Stores the content in its content codings: an interrupted download resumes from the coded bytes. The other file
    /// has the decoded content.
    private var codedSpool: DownloadSpool?
    /// The content codings of a resumed download, whose content is decoded when it is complete.
    private var coding: String?
    private var resuming: Resuming?
    /// Whether it is still to be reported to the delegate that no bytes of an earlier download are used.
    private var beginsAnew = false
    /// The location of the file, once it is complete.
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
        // The engine holds this sink; a weak reference to the sink would cost an allocation.
        spool.body.onWritten = { [weak engine] count in
            if let engine, let sink = engine.sink as? FileSink { sink.didWrite(count, engine) }
        }
        spool.body.onFailure = { [weak engine] in engine?.end(with: $0) }
        self.spool = spool
    }

    /// A file gets the unchanged body.
    func split(_ response: URLResponse, by reader: MixedReplaceReader) -> any TaskSink { self }

    // MARK: Receiving

    /// Decides where the response's bytes are written: after the existing bytes, or in their place.
    func receive(_ response: URLResponse, isPart: Bool, for engine: TaskEngine) -> SinkAction {
        if let resuming = resuming.take() {
            let answer = response as? HTTPURLResponse
            if let answer, resuming.data.isContinued(by: answer, from: resuming.offset) {
                if !engine.core.keepsContentCodings(of: resuming.whole) { coding = resuming.data.coding }
                goOn(from: resuming.offset, answer, engine)
                return .proceed
            }
            spool?.body.startOver()
            beginsAnew = true
            // The response has other bytes than the requested ones: the complete resource is requested. The same
            // applies to a response with content codings that were kept only for the range request.
            let isCoded = resuming.data.coding != nil && answer?.value(forHTTPHeaderField: "Content-Encoding") != nil
            if answer?.statusCode == 206 || answer?.statusCode == 416 || isCoded { return .reload(resuming.whole) }
        }
        keepCoded(response, engine)
        if beginsAnew { report(resumedAt: 0, of: response.expectedContentLength, engine) }
        beginsAnew = false
        return .proceed
    }

    /// Starts to store the content in its content codings, where the download could be resumed from them.
    private func keepCoded(_ response: URLResponse, _ engine: TaskEngine) {
        dropCoded()
        guard let request = task.currentRequest, !engine.core.keepsContentCodings(of: request),
            ResumeData(request, response, firstURL: nil, fileName: "", count: 1, isCoded: true) != nil
        else { return }
        let spool = DownloadSpool(engine.loop, DownloadFile())
        spool.body.onWritten = { [weak engine] _ in
            if let engine, let sink = engine.sink as? FileSink { sink.didWrite(0, engine) }
        }
        // The download is complete without the coded file, and no longer waits for it.
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

    /// The load has succeeded; the file is complete when all bytes are written.
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

    /// Decodes a resumed download as a whole: it was received as ranges of the coded content.
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

    /// The load has failed, and the error gets the resume data; or a program has cancelled it with a request for resume
    /// data. Without resume data the file is deleted.
    func settle(_ error: any Error, for engine: TaskEngine, _ report: @escaping (any Error) -> Void) {
        guard let spool else { return report(error) }
        guard let coded = codedSpool.take() else { return settle(error, spool, isCoded: keepsCodings(engine), report) }
        spool.body.settle {
            spool.end(keepsFile: false) { [self] in settle(error, coded, isCoded: true, report) }
        }
    }

    /// Whether the file has the content in its content codings, where it has any.
    private func keepsCodings(_ engine: TaskEngine) -> Bool {
        coding != nil || task.currentRequest.map { engine.core.keepsContentCodings(of: $0) } == true
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
            // Not earlier: the recipient of the report may resume the download at once, or check whether the file is
            // deleted.
            spool.end(keepsFile: data != nil) { [error] in report(error) }
        }
    }

    private func resumeData(_ spool: DownloadSpool, isCoded: Bool, _ error: any Error) -> Data? {
        guard let error = error as? URLError else { return nil }
        if error.code == .cancelled, !task.isAskedForResumeData { return nil }
        // There is no response yet: the download can be resumed from the earlier resume data.
        if let resuming { return resuming.data.encoded }
        guard var request = task.currentRequest, let response = task.response as? HTTPURLResponse else { return nil }
        // The program has not requested this setting: it was set for the resumed range.
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
                    task.releaseResources()
                }
            }
        case .continuation(let continuation):
            engine.reportEnd(error, to: .caller) { response in
                engine.resume(continuation, with: result(location, response, error))
            }
        }
    }

    /// The delegate gets the file's location before anything else about the end.
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

    /// Deletes the file, unless it was moved.
    private static func remove(_ location: URL) { _ = SystemCalls.unlink(location.path) }
}
