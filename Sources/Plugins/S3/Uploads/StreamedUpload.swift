import Foundation
@_spi(LoadingKitPlugins) import LoadingKit

/// Uploads the body of a load in parts: one is sent while the next one is read, so that two are in memory.
struct StreamedUpload: Sendable {
    let exchange: S3Exchange
    let operation: S3Operation
    let partSize: Int

    private var load: LoadContext { exchange.load }
    private var client: S3Client { exchange.client }

    func run() async throws {
        // The requests for the parts state what was read of the stream, so that the server could not find a difference.
        let length = BodyLength(stated: load.request.lengthOfStream)
        let body = PartReader(load.body.makeAsyncIterator(), PartCutter(size: partSize), length)
        guard try await body.readFirst() else { return try await sendWhole(body.takeFirst()) }
        try MultipartMessages.checkNoChecksum(operation.carrier.headerFields.map { $0.name })
        let late = LateRequest(of: load)
        let identifier = try MultipartMessages.uploadID(of: try await answer("POST", MultipartMessages.create))
        do {
            let parts = try await sendParts(body, identifier)
            try await complete(parts, identifier)
        } catch {
            if let late { abort(identifier, late) }
            throw error
        }
    }

    /// A body that fits into a part needs no multipart upload.
    private func sendWhole(_ body: Data) async throws {
        var operation = operation
        operation.setBody(body)
        try await exchange.perform(operation)
    }

    private enum Step: Sendable {
        case stored(S3Upload.Part)
        case read(Data?)
    }

    private func sendParts(_ body: PartReader, _ identifier: String) async throws -> [S3Upload.Part] {
        try await withThrowingTaskGroup(of: Step.self) { group in
            var parts: [S3Upload.Part] = []
            var number = 1
            var next: Data? = body.takeFirst()
            while let part = next.take() {
                guard number <= PartPlan.maximumParts else { throw S3UploadError.tooManyParts(partSize: partSize) }
                let current = number
                group.addTask { .stored(try await send(part, current, identifier)) }
                // Read while the part is sent, and not sent before that is complete. The first failure of both ends both.
                group.addTask { .read(try await leavingWhenCancelled { try await body.next() }) }
                number += 1
                while let step = try await group.next() {
                    switch step {
                    case .stored(let stored): parts.append(stored)
                    case .read(let read): next = read
                    }
                }
            }
            return parts
        }
    }

    private func send(_ part: Data, _ number: Int, _ identifier: String) async throws -> S3Upload.Part {
        let answer = try await answer(
            "PUT", MultipartMessages.part(number, identifier), part, isKept: MultipartMessages.isOfPart)
        return S3Upload.Part(number: number, eTag: try MultipartMessages.eTag(of: answer), size: part.count)
    }

    private func complete(_ parts: [S3Upload.Part], _ identifier: String) async throws {
        let size = parts.reduce(0) { $0 + Int64($1.size) }
        let post = operation.further(
            "POST", MultipartMessages.upload(identifier), body: MultipartMessages.completion(parts),
            isKept: MultipartMessages.isOfCompletion)
        let head = operation.further("HEAD", [], isKept: MultipartMessages.isOfPart)
        let options = client.options
        let (answer, object) = try await UploadCompletion(size: size, parts: parts, hadAllParts: false).run(
            attempts: options.partAttempts, clock: options.clock
        ) {
            try await exchange.answer(post)
        } head: {
            try await exchange.answer(head)
        }
        try await deliver(object, answer)
    }

    /// Delivers the response to the load's request, whose body is empty, with the fields of an answer.
    private func deliver(_ object: S3StoredObject, _ answer: S3Answer) async throws {
        var fields = answer.fields.filter { !$0.key.hasPrefix("content-") && $0.key != "transfer-encoding" }
        fields["etag"] = object.eTag
        fields["content-length"] = "0"
        let response = HTTPURLResponse(
            url: load.url, statusCode: answer.status, headerFields: fields.map { (name: $0.key, value: $0.value) })
        try await load.receive(response)
    }

    private func answer(
        _ method: String, _ query: [CanonicalRequest.QueryItem], _ body: Data? = nil,
        isKept: (String) -> Bool = MultipartMessages.isOfCreation
    ) async throws -> S3Answer {
        let request = operation.further(method, query, body: body, isKept: isKept)
        let options = client.options
        return try await PartRetry.repeating(options.partAttempts, options.clock) {
            try await exchange.answer(request)
        }
    }

    /// Aborts the upload, so that its parts are not stored and billed. The load has ended, or is about to.
    private func abort(_ identifier: String, _ late: LateRequest) {
        let request = operation.further(
            "DELETE", MultipartMessages.upload(identifier), isKept: MultipartMessages.isOfPart)
        Task { [client] in
            guard let signed = try? await client.sign(request) else { return }
            await late.send(signed.request)
        }
    }
}

/// Divides a body that arrives in pieces into parts: a value. It holds one part, and the excess bytes of a piece.
struct PartCutter: Sendable {
    private let size: Int
    private var bytes = Data()

    init(size: Int) { self.size = max(1, size) }

    mutating func append(_ piece: Data) {
        if bytes.isEmpty { bytes = piece } else { bytes.append(piece) }
    }

    /// A full part; nil until a further byte is known to follow, because the last part must not be empty.
    mutating func next() -> Data? {
        guard bytes.count > size else { return nil }
        let part = bytes.prefix(size)
        bytes = bytes.dropFirst(size)
        return part
    }

    /// The rest at the end: the last part.
    mutating func finish() -> Data {
        defer { bytes = Data() }
        return bytes
    }
}

/// Waits for work that a cancellation does not end, such as a read of a stream whose writer is quiet. When the task is
/// cancelled, this function returns at once. The work's own task is cancelled, too, and ends later.
private func leavingWhenCancelled<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let (values, continuation) = AsyncThrowingStream.makeStream(of: Value.self)
    let reading = Task {
        do {
            continuation.yield(try await work())
            continuation.finish()
        } catch {
            continuation.finish(throwing: error)
        }
    }
    continuation.onTermination = { _ in reading.cancel() }
    for try await value in values { return value }
    throw CancellationError()
}

/// Reads a body part by part.
private final class PartReader: @unchecked Sendable {  // one call at a time
    private var body: LoadBody.Iterator
    private var cutter: PartCutter
    private var length: BodyLength
    private var isAtEnd = false
    /// Read ahead; held only here, so that it is released after it was sent.
    private var first: Data?

    init(_ body: LoadBody.Iterator, _ cutter: PartCutter, _ length: BodyLength) {
        self.body = body
        self.cutter = cutter
        self.length = length
    }

    /// Reads the first part, and returns whether others follow.
    func readFirst() async throws -> Bool {
        first = try await next()
        return !isAtEnd
    }

    /// The first part, after it was read.
    func takeFirst() -> Data { first.take() ?? Data() }

    /// The next part; nil after the last.
    func next() async throws -> Data? {
        guard !isAtEnd else { return nil }
        while true {
            if let part = cutter.next() { return part }
            let next = try await body.next()
            // Nobody waits for the rest of a part that will not be sent.
            try Task.checkCancellation()
            try length.count(next?.count)
            guard let piece = next else {
                isAtEnd = true
                return cutter.finish()
            }
            cutter.append(piece)
        }
    }
}
