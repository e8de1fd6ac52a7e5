import Foundation

/// The completion of a multipart upload.
///
/// An attempt whose answer was lost may have stored the object. The next attempt then fails, because the upload does not
/// exist any longer, or its condition is not met any longer. The object's head shows whether it is the upload's.
///
/// Source: *CompleteMultipartUpload* of Amazon's S3 API reference; *Checking object integrity* of its user guide for
/// the entity tag.
struct UploadCompletion: Sendable {
    /// The properties that an object must share with the upload.
    enum Evidence: Sendable, Equatable {
        /// The number of bytes and of parts.
        case size
        /// These, and the digest of the content in the entity tag.
        case content
    }

    /// The number of bytes of all parts.
    let size: Int64
    let parts: [S3Upload.Part]
    /// Whether the server had all parts before this run, so that an earlier run may have requested the completion.
    let hadAllParts: Bool

    /// Requests the completion, with as many attempts as for a part.
    ///
    /// - Parameters:
    ///   - request: sends the completion.
    ///   - head: requests the object's head.
    /// - Returns: the answer that confirms the object, and the object.
    func run(
        attempts: Int, clock: S3Clock, request: () async throws -> S3Answer, head: () async throws -> S3Answer
    ) async throws -> (answer: S3Answer, object: S3StoredObject) {
        var mayBeStored = false
        do {
            let answer = try await PartRetry.repeating(attempts, clock) {
                do { return try await request() } catch {
                    mayBeStored = mayBeStored || Self.mayHaveStored(error)
                    throw error
                }
            }
            return (answer, try MultipartMessages.storedObject(answer))
        } catch let error as S3Error {
            guard let evidence = evidence(after: error.kind, mayBeStored: mayBeStored),
                let answer = try? await PartRetry.repeating(attempts, clock, head), isStored(answer, evidence)
            else { throw error }
            return (answer, S3StoredObject(eTag: answer.field("ETag"), versionID: answer.field("x-amz-version-id")))
        }
    }

    /// Whether an attempt that ended with this error may have stored the object: it had no answer, or the server failed
    /// while it performed the request.
    static func mayHaveStored(_ error: any Error) -> Bool {
        guard let error = error as? S3Error else { return true }
        return error.kind == .serverFailure || error.code == "InternalError"
    }

    /// The evidence that shows that the object is stored all the same; nil where the error is not the result of an
    /// earlier success.
    ///
    /// - Parameter mayBeStored: whether an earlier attempt may have stored the object. The first attempt may have
    ///   stored it as well, because the session may have sent its request twice.
    func evidence(after kind: S3Error.Kind, mayBeStored: Bool) -> Evidence? {
        switch kind {
        // The server has just accepted a part of the upload, and then an attempt may have been successful.
        case .noSuchUpload where mayBeStored && !hadAllParts: .size
        // An older object may have the same size: one that was there before the upload was aborted, or that the
        // condition protects.
        case .noSuchUpload: .content
        case .preconditionFailed: mayBeStored || hadAllParts ? .content : nil
        default: nil
        }
    }

    /// Whether the head is that of the upload's object.
    func isStored(_ head: S3Answer, _ evidence: Evidence) -> Bool {
        guard let tag = head.field("ETag").map(Self.plain),
            head.field("Content-Length").flatMap({ Int64($0) }) == size
        else { return false }
        return switch evidence {
        case .size: tag.hasSuffix("-\(parts.count)")
        case .content: tag == contentTag
        }
    }

    /// The entity tag of an object in these parts: the MD5 of the parts' MD5s, and the number of parts. Nil where the
    /// tags of the parts are not MD5s.
    private var contentTag: String? {
        var digests: [UInt8] = []
        for part in parts.sorted(by: { $0.number < $1.number }) {
            guard let digest = Self.md5(inTag: part.eTag) else { return nil }
            digests += digest
        }
        return Digest.md5(digests).map { "\(Digest.hexadecimal($0))-\(parts.count)" }
    }

    private static func md5(inTag tag: String) -> [UInt8]? {
        let tag = plain(tag)
        guard tag.utf8.count == 32, tag.allSatisfy(\.isHexDigit) else { return nil }
        let digits = Array(tag.utf8)
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        }
        return bytes.count == 16 ? bytes : nil
    }

    /// An entity tag without its quotation marks.
    private static func plain(_ tag: String) -> String {
        tag.trimmingCharacters(in: CharacterSet(charactersIn: "\"")).lowercased()
    }
}
