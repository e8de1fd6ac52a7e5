import Foundation
import LoadingKit

extension S3 {
    /// Uploads a file in parts, several at the same time.
    ///
    /// - Parameter url: the object, an `s3:` URL.
    /// - Throws: ``S3UploadError/interrupted(_:_:)`` with the upload once it has started; before that, the errors of
    ///   `data(for:)`. A cancelled upload is interrupted, too. The server keeps its parts.
    @discardableResult
    public func upload(
        fromFile file: URL, to url: URL, options: S3UploadOptions = S3UploadOptions()
    ) async throws -> S3StoredObject {
        let upload = try await beginUpload(ofFile: file, to: url, options: options)
        return try await continueUpload(upload, fromFile: file, options: options)
    }

    /// Starts an upload, and sends no part yet.
    public func beginUpload(
        ofFile file: URL, to url: URL, options: S3UploadOptions = S3UploadOptions()
    ) async throws -> S3Upload {
        try MultipartMessages.checkNoChecksum(options.fields.keys)
        let size = try FilePart.size(of: file)
        let address = try S3Address(url)
        let fields = options.fields.filter { MultipartMessages.isOfCreation($0.key.lowercased()) }
        let answer = try await PartRetry.repeating(options.partAttempts, options.clock) {
            try await self.answer("POST", address, MultipartMessages.create, fields: fields)
        }
        let upload = S3Upload(
            url: address.url, uploadID: try MultipartMessages.uploadID(of: answer), size: size,
            partSize: PartPlan(size: size, partSize: options.partSize).partSize, parts: [])
        options.didAdvance?(upload)
        return upload
    }

    /// Sends the parts of a file that the server does not have, and completes the upload. An upload without missing
    /// parts, which the server has completed before, is successful where the object's entity tag shows its content.
    ///
    /// - Parameters:
    ///   - upload: the value from ``S3UploadOptions/didAdvance``, an error or ``storedParts(of:)``.
    ///   - file: the file with which the upload started. Its content must be unchanged; its size is checked.
    ///   - options: the options; the size of parts is the upload's.
    /// - Throws: ``S3UploadError``.
    @discardableResult
    public func continueUpload(
        _ upload: S3Upload, fromFile file: URL, options: S3UploadOptions = S3UploadOptions()
    ) async throws -> S3StoredObject {
        try MultipartMessages.checkNoChecksum(options.fields.keys)
        let found = try FilePart.size(of: file)
        guard found == upload.size else {
            throw S3UploadError.fileChanged(path: file.path, expected: upload.size, found: found)
        }
        let isWhole = upload.missingParts.isEmpty
        var upload = upload
        do {
            try await sendParts(&upload, file, options)
            return try await complete(upload, hadAllParts: isWhole, options)
        } catch {
            throw S3UploadError.interrupted(upload, error)
        }
    }

    /// The same upload with the parts that the server has: for a program that ended before it could store the last
    /// ones.
    public func storedParts(of upload: S3Upload) async throws -> S3Upload {
        let address = try S3Address(upload.url)
        var parts: [S3Upload.Part] = []
        var marker: Int?
        repeat {
            let items = marker.map { [CanonicalRequest.QueryItem("part-number-marker", String($0))] } ?? []
            let answer = try await answer("GET", address, MultipartMessages.upload(upload.uploadID) + items)
            let page = try MultipartMessages.parts(answer)
            parts += page.parts
            // A page that goes backwards, or endless pages, are a server's error.
            if let next = page.next {
                guard next > marker ?? 0, next <= PartPlan.maximumParts, parts.count <= PartPlan.maximumParts else {
                    throw S3UploadError.unexpectedAnswer("the list of parts does not end")
                }
            }
            marker = page.next
        } while marker != nil
        var stored = upload
        stored.parts = parts.sorted { $0.number < $1.number }
        return stored
    }

    /// Aborts an upload: the server removes its parts.
    public func abort(_ upload: S3Upload) async throws {
        _ = try await answer("DELETE", try S3Address(upload.url), MultipartMessages.upload(upload.uploadID))
    }

    /// Adds each part to `upload` when the server has it, and tells the program.
    private func sendParts(_ upload: inout S3Upload, _ file: URL, _ options: S3UploadOptions) async throws {
        let address = try S3Address(upload.url)
        let start = upload
        try await withThrowingTaskGroup(of: S3Upload.Part.self) { group in
            func add(_ part: S3Upload.Part) {
                upload.add(part)
                options.didAdvance?(upload)
            }
            for (count, number) in start.missingParts.enumerated() {
                if count >= max(1, options.partsAtOnce), let part = try await group.next() { add(part) }
                group.addTask { try await send(number, start, address, file, options) }
            }
            while let part = try await group.next() { add(part) }
        }
    }

    private func send(
        _ number: Int, _ upload: S3Upload, _ address: S3Address, _ file: URL, _ options: S3UploadOptions
    ) async throws -> S3Upload.Part {
        guard let range = upload.plan.range(of: number) else {
            throw S3UploadError.unexpectedAnswer("the upload has no part \(number)")
        }
        let part = FilePart(path: file.path, start: range.start, length: range.length)
        var fields = options.fields.filter { MultipartMessages.isOfPart($0.key.lowercased()) }
        fields["X-Amz-Content-Sha256"] = options.signsPayload ? try await part.digest() : S3Operation.unsignedPayload
        fields["Content-Length"] = String(range.length)
        let complete = fields
        let answer = try await PartRetry.repeating(options.partAttempts, options.clock) {
            try await self.answer(
                "PUT", address, MultipartMessages.part(number, upload.uploadID), fields: complete
            ) { $0.httpBodyStream = part.stream }
        }
        return S3Upload.Part(number: number, eTag: try MultipartMessages.eTag(of: answer), size: range.length)
    }

    private func complete(
        _ upload: S3Upload, hadAllParts: Bool, _ options: S3UploadOptions
    ) async throws -> S3StoredObject {
        let fields = options.fields.filter { MultipartMessages.isOfCompletion($0.key.lowercased()) }
        let fieldsOfHead = options.fields.filter { MultipartMessages.isOfPart($0.key.lowercased()) }
        let body = MultipartMessages.completion(upload.parts)
        let address = try S3Address(upload.url)
        let completion = UploadCompletion(
            size: upload.size, parts: upload.parts, hadAllParts: hadAllParts)
        return try await completion.run(attempts: options.partAttempts, clock: options.clock) {
            try await self.answer("POST", address, MultipartMessages.upload(upload.uploadID), fields: fields) {
                $0.httpBody = body
            }
        } head: {
            try await self.answer("HEAD", address, [], fields: fieldsOfHead)
        }.object
    }
}
