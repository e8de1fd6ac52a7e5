import Foundation
import LoadingKitTransport
import Synchronization

/// Writes a download task's body into its file.
final class FileSink: PieceSink, @unchecked Sendable {  // confined to the task's loop, but for the atomic
    /// A download that continues an earlier one, or the part before.
    struct Resuming {
        /// The least number of bytes of a part of the rest. A server that sends a few bytes for each request would be
        /// sent requests forever.
        static let leastPart: Int64 = 16 * 1024
        /// The largest number of parts that are requested behind the first one. The task keeps what it measured of
        /// each.
        static let mostParts = 10_000

        var data: ResumeData
        /// The number of bytes in the file.
        var offset: Int64
        /// The request for the complete resource.
        let whole: URLRequest
        /// The size of the resource; nil where it is not known.
        var size: Int64?
        /// The number of parts of the rest that were requested behind the first one.
        var laterParts = 0

        /// The state for the next part, when one has ended with this number of bytes in the file; nil where all are
        /// there, the part was too short, or there were too many.
        func next(from count: Int64) -> Resuming? {
            guard let size, count - offset >= Self.leastPart, count < size, laterParts < Self.mostParts else {
                return nil
            }
            var next = self
            next.laterParts += 1
            next.data.count = count
            next.offset = count
            return next
        }
    }

    private let recipient: FileRecipient
    /// The resume data of the download; an error where the data was not resume data.
    private let resumption: Result<ResumeData, any Error>?
    /// The program's handlers that wait for resume data.
    private let waiting: ResumeDataHandlers
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
    /// The download that the response continues: the response is the rest of a resumed one, or a part of the rest.
    private var continued: Resuming?
    /// Whether the file had all bytes before the response, whose own content is dropped.
    private var isComplete = false
    /// Whether the file of a resumed download is being opened.
    private var isOpening = false
    /// Reports the end of a download whose file is still being opened.
    private var reportWhenOpened: (() -> Void)?
    /// The location of the file, once it is complete.
    private var location: URL?
    /// Whether the download has failed: its decoded content is not needed.
    private let hasFailed = Atomic<Bool>(false)

    init(
        _ recipient: FileRecipient, _ resumption: Result<ResumeData, any Error>?, _ waiting: ResumeDataHandlers,
        _ pool: ChunkPool
    ) {
        self.recipient = recipient
        self.resumption = resumption
        self.waiting = waiting
        pieces = PieceBuffer(pool)
    }

    /// A completion handler takes the place of the delegate's methods for the download's data.
    private var informsDelegate: Bool { if case .completion = recipient { false } else { true } }

    // MARK: Beginning

    func prepare(_ request: URLRequest, for engine: any SinkEngine) {
        guard let resumption else {
            open(DownloadFile(), for: engine)
            return engine.load(prepared: request)
        }
        isOpening = true
        let loop = engine.loop
        loop.offload(inPlace: true) {
            let data = try resumption.get()
            return (data, try DownloadFile(resuming: data.fileName, count: data.count))
        } then: { [self] opened in
            isOpening = false
            if let report = reportWhenOpened.take() {
                // The download has ended before it began.
                let file = try? opened.get().1
                return loop.offload(inPlace: true) {
                    file?.leave()
                } then: { _ in
                    report()
                }
            }
            guard !engine.isOver else { return }
            switch opened {
            case .success((let data, let file)): resume(data, in: file, request, for: engine)
            case .failure(let error): engine.end(with: error)
            }
        }
    }

    private func resume(_ data: ResumeData, in file: DownloadFile, _ request: URLRequest, for engine: any SinkEngine) {
        open(file, for: engine)
        guard file.count > 0 else {
            beginsAnew = true
            return engine.load(prepared: request)
        }
        resuming = Resuming(data: data, offset: file.count, whole: request)
        engine.load(changed: data.rest(of: request, from: file.count))
    }

    func open(_ file: DownloadFile, for engine: any SinkEngine) {
        let spool = DownloadSpool(engine.loop, file)
        spool.body.onWritten = { [weak self, weak engine] count in if let engine { self?.didWrite(count, engine) } }
        spool.body.onFailure = { [weak engine] in engine?.end(with: $0) }
        self.spool = spool
    }

    /// A file gets the unchanged body.
    func split(_ response: URLResponse, by reader: MixedReplaceReader) -> any TaskSink { self }

    // MARK: Receiving

    /// Decides where the response's bytes are written: after the existing bytes, or in their place.
    func receive(_ response: URLResponse, isPart: Bool, for engine: any SinkEngine) -> SinkAction {
        isComplete = false
        if let resuming = resuming.take() {
            let answer = resuming.data.answer(response, from: resuming.offset)
            let keepsCodings = engine.keepsContentCodings(of: resuming.whole)
            if answer == .complete, continued == nil {
                // The load may still fail, or its handler give a later response.
                self.resuming = resuming
                isComplete = true
                coding = resuming.data.decodedCoding(keepsCodings: keepsCodings)
                if let rest = resuming.data.emptyRest(response, from: resuming.offset) { engine.note(rest) }
                engine.didResume(at: resuming.offset, of: resuming.offset, informsDelegate: informsDelegate)
                return .proceed
            }
            if case .rest(let size) = answer {
                coding = resuming.data.decodedCoding(keepsCodings: keepsCodings)
                // The delegate is informed of the bytes of the earlier download, and not of this one's.
                let isFirst = continued == nil
                engine.didResume(at: resuming.offset, of: size, informsDelegate: informsDelegate && isFirst)
                continued = resuming
                continued?.size = size < 0 ? nil : size
                return .proceed
            }
            if continued != nil, let status = (response as? HTTPURLResponse)?.statusCode, status >= 400 {
                self.resuming = resuming
                let words = "status \(status) came for the bytes behind the first \(resuming.offset)"
                return .fail(LoadFailure(.networkConnectionLost, words))
            }
            spool?.body.startOver()
            beginsAnew = true
            (continued, coding) = (nil, nil)
            // The response has other bytes than the requested ones: the complete resource is requested. The same
            // applies to a response with content codings that were kept only for the range request.
            let isCoded = resuming.data.coding != nil && response.contentCoding != nil
            if answer == .other || isCoded { return .reload(resuming.whole) }
        }
        // A later response replaces the one before, its codings and its body.
        (continued, coding) = (nil, nil)
        _ = pieces.take()
        if !beginsAnew, let body = spool?.body, body.hasBytes { body.startOver() }
        keepCoded(response, engine)
        if beginsAnew {
            engine.didResume(at: 0, of: response.expectedContentLength, informsDelegate: informsDelegate)
        }
        beginsAnew = false
        return .proceed
    }

    /// Starts to store the content in its content codings, where the download could be resumed from them.
    private func keepCoded(_ response: URLResponse, _ engine: any SinkEngine) {
        dropCoded()
        guard let request = engine.currentRequest, !engine.keepsContentCodings(of: request),
            ResumeData(request, response, engine.ranges, firstURL: nil, fileName: "", count: 1, isCoded: true) != nil,
            response.isDecoded(keepsCodings: false)
        else { return }
        let spool = DownloadSpool(engine.loop, DownloadFile())
        spool.body.onWritten = { [weak self, weak engine] _ in if let engine { self?.didWrite(0, engine) } }
        // The download is complete without the coded file, and no longer waits for it.
        spool.body.onFailure = { [weak self, weak engine] _ in
            guard let self, let engine else { return }
            dropCoded()
            didWrite(0, engine)
        }
        codedSpool = spool
    }

    private func dropCoded(_ done: @escaping () -> Void = {}) {
        guard let spool = codedSpool.take() else { return done() }
        spool.body.settle { spool.end(keepsFile: false, done) }
    }

    func deliver(_ piece: Data, for engine: any SinkEngine) -> SinkAction {
        guard let spool, !isComplete else { return .proceed }
        spool.body.append(piece, of: engine.expectedToReceive)
        return isBehind ? .hold(.behind) : .proceed
    }

    func receive(coded bytes: UnsafeRawBufferPointer) { codedSpool?.body.append(Data(bytes), of: -1) }

    private var isBehind: Bool { spool?.body.isBehind == true || codedSpool?.body.isBehind == true }

    private func didWrite(_ count: Int64, _ engine: any SinkEngine) {
        guard let spool else { return }
        if count > 0, informsDelegate { engine.didWrite(count, total: spool.body.count) }
        if !isBehind, engine.hold.contains(.behind) { engine.release(.behind) }
    }

    // MARK: The end

    /// The load has succeeded; the file is complete when all bytes are written.
    func finish(for engine: any SinkEngine) -> SinkAction {
        guard let spool else { return .proceed }
        engine.perform(flush(for: engine))
        // The bytes that were dropped do not count.
        if isComplete { engine.didResume(at: spool.body.count, of: spool.body.count, informsDelegate: false) }
        dropCoded {
            // The file is gone, if the task has ended meanwhile.
            guard !engine.isOver else { return }
            spool.body.settle { [self] in
                guard !engine.isOver else { return }
                if let failure = ResumeData.failure(spool.body.count, of: continued?.size) {
                    return restDidEnd(at: spool.body.count, failure, engine)
                }
                close(spool, engine)
            }
        }
        return .hold(.completing)
    }

    /// The server has sent only a part of the rest, because it limits ranges, for example: requests the bytes behind it.
    /// The download fails where the part was too short, or there were too many.
    private func restDidEnd(at count: Int64, _ failure: LoadFailure, _ engine: any SinkEngine) {
        guard let next = continued?.next(from: count) else { return engine.end(with: failure) }
        // Not at once: the engine may be handling the end of the load that is replaced.
        engine.loop.executeLater { [self] in
            guard !engine.isOver else { return }
            resuming = next
            engine.perform(.reload(next.data.rest(of: next.whole, from: count)))
        }
    }

    private func close(_ spool: DownloadSpool, _ engine: any SinkEngine) {
        spool.finish { [self] result in
            guard !engine.isOver else { return }
            switch result {
            case .success(let location): decode(location, spool, engine)
            case .failure(let error): engine.end(with: error)
            }
        }
    }

    /// Decodes a resumed download as a whole: it was received as ranges of the coded content. The coded file stays
    /// until the end is reported: until then the download may fail with resume data that names it.
    private func decode(_ file: URL, _ spool: DownloadSpool, _ engine: any SinkEngine) {
        guard let coding else { return complete(file, engine) }
        spool.body.perform(
            { [self, ratio = engine.maximumDecompressionRatio] in
                try CodedDownload.decode(file, coding, ratio: ratio) { !hasFailed.load(ordering: .relaxed) }
            },
            { [self] (result: Result<URL, any Error>) in
                switch result {
                case .success(let file) where engine.isOver: Self.remove(file)
                case .success(let file): complete(file, engine)
                case .failure(let error):
                    if !engine.isOver { engine.end(with: error) }
                }
            })
    }

    private func complete(_ file: URL, _ engine: any SinkEngine) {
        location = file
        engine.release(.completing)
    }

    /// The load has failed, and the error gets the resume data; or a program has cancelled it with a request for resume
    /// data. Without resume data the file is deleted.
    func settle(_ error: any Error, for engine: any SinkEngine, _ report: @escaping (any Error) -> Void) {
        hasFailed.store(true, ordering: .relaxed)
        guard let spool else {
            let settled = withEarlierData(error)
            guard isOpening, settled.hasData else { return report(settled.error) }
            // Only one download at a time can open the file, and the program may resume the download at once.
            return reportWhenOpened = { report(settled.error) }
        }
        // The decoded content of a resumed download is in another file than the spool's.
        if coding != nil, let decoded = location.take() { Self.remove(decoded) }
        guard let coded = codedSpool.take() else {
            return settle(error, spool, isCoded: keepsCodings(engine), engine, report)
        }
        spool.body.settle {
            spool.end(keepsFile: false) { [self] in settle(error, coded, isCoded: true, engine, report) }
        }
    }

    /// The file of a resumed download is not open yet: the download can be resumed from the earlier resume data.
    private func withEarlierData(_ error: any Error) -> (error: any Error, hasData: Bool) {
        guard let failure = error as? URLError, needsResumeData(failure), let data = try? resumption?.get().encoded
        else { return (error, false) }
        return (failure.adding(data, NSURLSessionDownloadTaskResumeData), true)
    }

    /// Whether the error gets resume data: not if the program has cancelled the download without requesting it.
    private func needsResumeData(_ error: URLError) -> Bool { error.code != .cancelled || !waiting.isEmpty }

    /// Whether the file has the content in its content codings, where it has any.
    private func keepsCodings(_ engine: any SinkEngine) -> Bool {
        coding != nil || engine.currentRequest.map { engine.keepsContentCodings(of: $0) } == true
    }

    private func settle(
        _ error: any Error, _ spool: DownloadSpool, isCoded: Bool, _ engine: any SinkEngine,
        _ report: @escaping (any Error) -> Void
    ) {
        spool.body.settle { [self] in
            let data = resumeData(spool, isCoded: isCoded, error, engine)
            var error = error
            if let failure = error as? URLError, let data {
                error = failure.adding(data, NSURLSessionDownloadTaskResumeData)
            }
            // Not earlier: the recipient of the report may resume the download at once, or check whether the file is
            // deleted.
            spool.end(keepsFile: data != nil) { [error] in report(error) }
        }
    }

    private func resumeData(
        _ spool: DownloadSpool, isCoded: Bool, _ error: any Error, _ engine: any SinkEngine
    ) -> Data? {
        guard let error = error as? URLError, needsResumeData(error) else { return nil }
        // All bytes are there, and are not what their codings say: another attempt would have the same ones.
        if coding != nil, error.code == .cannotDecodeRawData { return nil }
        // There is no response yet: the download can be resumed from the earlier resume data.
        if let resuming { return resuming.data.encoded }
        return engine.resumeData { request, response, firstURL in
            var request = request
            // For the resumed range it may have another setting than the program's.
            if let continued { request.keepsContentCodings = continued.whole.keepsContentCodings }
            // The file has a content that is not decoded as it was received.
            let isCoded = isCoded || !response.isDecoded(keepsCodings: false)
            return ResumeData(
                request, response, engine.ranges, firstURL: firstURL, fileName: spool.name, count: spool.body.count,
                isCoded: isCoded && response.contentCoding != nil, continues: continued != nil)
        }
    }

    func reportEnd(_ error: (any Error)?, for engine: any SinkEngine) {
        let location = error == nil ? location : nil
        // No resume data can name the coded file of a resumed download any longer.
        if error == nil, coding != nil { spool?.end(keepsFile: false) {} }
        switch recipient {
        case .delegate:
            engine.reportEnd(error, to: .delegate) {
                if let location { engine.didFinish(at: location) }
            } last: { _ in
                engine.reportEndToDelegate(error)
            }
        case .completion(let handler):
            engine.reportEnd(error, to: .handler) { response in
                engine.reportEndToHandler {
                    handler(location, response, error)
                    if let location { Self.remove(location) }
                }
            }
        case .continuation(let continuation):
            engine.reportEnd(error, to: continuation) {
                location
            } discard: {
                if let location { Self.remove(location) }
            }
        }
    }

    /// Deletes the file, unless it was moved.
    private static func remove(_ location: URL) { _ = SystemCalls.unlink(location.path) }
}
