import Foundation
import LoadingKit

/// Uploads the body of a load in parts: one is sent while the next one is read, so that two are in memory.
struct StreamedUpload: Sendable {
    let load: LoadContext
    let exchange: S3Exchange
    let installation: S3Installation
    let operation: S3Operation
    let partSize: Int

    private var options: S3Options { installation.client.options }
    private var address: S3Address { operation.address }

    func run() async throws {
        var body = PartReader(load.body.makeAsyncIterator(), PartCutter(size: partSize))
        guard try await body.readFirst() else { return try await sendWhole(body.takeFirst()) }
        let identifier = try MultipartMessages.uploadID(of: try await answer("POST", MultipartMessages.create))
        do {
            let parts = try await sendParts(&body, identifier)
            try await complete(parts, identifier)
        } catch {
            abort(identifier)
            throw error
        }
    }

    /// A body that fits into a part needs no multipart upload.
    private func sendWhole(_ body: Data) async throws {
        var operation = operation
        operation.carrier.httpBody = body
        operation.carrier.setValue(nil, forHTTPHeaderField: "Content-Length")
        operation.payload = Digest.hex(of: body)
        try await exchange.deliver(try await exchange.send(operation))
    }

    private func sendParts(_ body: inout PartReader, _ identifier: String) async throws -> [S3Upload.Part] {
        try await withThrowingTaskGroup(of: S3Upload.Part.self) { group in
            var parts: [S3Upload.Part] = []
            var number = 1
            var next: Data? = body.takeFirst()
            while let part = next.take() {
                guard number <= PartPlan.maximumParts else { throw S3UploadError.tooManyParts(partSize: partSize) }
                let current = number
                group.addTask { try await send(part, current, identifier) }
                number += 1
                // Read while the part is sent, and not sent before that is complete.
                next = try await body.next()
                if let stored = try await group.next() { parts.append(stored) }
            }
            return parts
        }
    }

    private func send(_ part: Data, _ number: Int, _ identifier: String) async throws -> S3Upload.Part {
        let request = S3Operation.further(
            "PUT", address, MultipartMessages.part(number, identifier), of: operation.carrier, body: part,
            isKept: MultipartMessages.isOfPart)
        let answer = try await repeating { try await exchange.answer(request) }
        return S3Upload.Part(number: number, eTag: try MultipartMessages.eTag(of: answer), size: part.count)
    }

    private func complete(_ parts: [S3Upload.Part], _ identifier: String) async throws {
        let body = MultipartMessages.completion(parts)
        let answer = try await answer(
            "POST", MultipartMessages.upload(identifier), body, isKept: MultipartMessages.isOfCompletion)
        var fields = answer.fields
        fields["etag"] = try MultipartMessages.storedObject(answer).eTag
        fields["content-type"] = nil
        fields["transfer-encoding"] = nil
        fields["content-length"] = "0"
        guard
            let response = HTTPURLResponse(
                url: load.url, statusCode: answer.status, httpVersion: nil, headerFields: fields)
        else { throw S3UploadError.unexpectedAnswer("the server's answer cannot be handed over") }
        try await load.receive(response)
    }

    private func answer(
        _ method: String, _ query: [CanonicalRequest.QueryItem], _ body: Data? = nil,
        isKept: (String) -> Bool = MultipartMessages.isOfCreation
    ) async throws -> S3Answer {
        let request = S3Operation.further(
            method, address, query, of: operation.carrier, body: body, isKept: isKept)
        return try await repeating { try await exchange.answer(request) }
    }

    private func repeating<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await PartRetry.repeating(options.partAttempts, options.clock, body)
    }

    /// Aborts the upload, so that its parts are not stored and billed. The load has ended, or is about to: a separate
    /// session sends the request.
    private func abort(_ identifier: String) {
        let request = S3Operation.further(
            "DELETE", address, MultipartMessages.upload(identifier), of: operation.carrier,
            isKept: MultipartMessages.isOfPart)
        Task { [installation] in
            guard let signed = try? await installation.client.sign(request) else { return }
            await installation.sendAfterwards(signed.request)
        }
    }
}

extension PartRetry {
    /// The result of `body`, which is called again as long as the decision requires a retry.
    static func repeating<Value: Sendable>(
        _ attempts: Int, _ clock: S3Clock, _ body: () async throws -> Value
    ) async throws -> Value {
        var attempt = 1
        while true {
            do {
                return try await body()
            } catch {
                try Task.checkCancellation()
                let random = Double.random(in: 0...1)
                guard let pause = pause(after: error, attempt: attempt, of: attempts, random: random) else {
                    throw error
                }
                try await clock.sleep(pause)
                attempt += 1
            }
        }
    }
}

/// Reads a body part by part.
private struct PartReader {
    private var body: LoadBody.Iterator
    private var cutter: PartCutter
    private var isAtEnd = false
    /// Read ahead; held only here, so that it is released after it was sent.
    private var first: Data?

    init(_ body: LoadBody.Iterator, _ cutter: PartCutter) {
        self.body = body
        self.cutter = cutter
    }

    /// Reads the first part, and returns whether others follow.
    mutating func readFirst() async throws -> Bool {
        first = try await next()
        return !isAtEnd
    }

    /// The first part, after it was read.
    mutating func takeFirst() -> Data { first.take() ?? Data() }

    /// The next part; nil after the last.
    mutating func next() async throws -> Data? {
        guard !isAtEnd else { return nil }
        while true {
            if let part = cutter.next() { return part }
            guard let piece = try await body.next() else {
                isAtEnd = true
                return cutter.finish()
            }
            cutter.append(piece)
        }
    }
}
