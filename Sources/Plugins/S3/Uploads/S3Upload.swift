import Foundation

/// A multipart upload that has begun: what is needed to go on with it, also in another process.
///
/// It is `Codable`. It has no credentials. The server keeps the parts, and bills them, until the upload is completed or aborted.
public struct S3Upload: Sendable, Hashable, Codable {
    /// A part that the server has.
    public struct Part: Sendable, Hashable, Codable {
        /// From 1 to 10,000.
        public let number: Int
        /// What the server calls it.
        public let eTag: String
        /// In bytes.
        public let size: Int
    }

    /// The object: an `s3:` URL.
    public let url: URL
    /// What the server calls the upload.
    public let uploadID: String
    /// The file's size in bytes. A file of another size is refused.
    public let size: Int64
    /// The size of a part in bytes; the last may have less.
    public let partSize: Int
    /// The parts that the server has, in order.
    public internal(set) var parts: [Part]

    /// How many bytes the server has.
    public var countOfBytesStored: Int64 {
        parts.reduce(0) { sum, part in
            let (next, overflows) = sum.addingReportingOverflow(Int64(max(0, part.size)))
            return overflows ? .max : next
        }
    }

    var plan: PartPlan { PartPlan(size: size, partSize: partSize) }

    /// The numbers of the parts that are still to be sent. A part of another size than planned is sent anew.
    var missingParts: [Int] {
        let stored = Dictionary(parts.map { ($0.number, $0.size) }) { first, _ in first }
        let plan = plan
        return (1...plan.count).filter { number in stored[number] != plan.range(of: number)?.length }
    }

    mutating func add(_ part: Part) {
        parts.removeAll { $0.number == part.number }
        parts.append(part)
        parts.sort { $0.number < $1.number }
    }
}

/// How a file is uploaded by ``S3/upload(fromFile:to:options:)``.
public struct S3UploadOptions: Sendable {
    /// The size of a part in bytes; larger where 10,000 parts would not be enough. Default 8 MiB; Amazon takes 5 MiB to 5 GiB.
    public var partSize = 8 << 20
    /// How many parts are sent at the same time. Default 4. Parts are read while they are sent.
    public var partsAtOnce = 4
    /// How often a part is sent before the upload fails. Default 3.
    public var partAttempts = 3
    /// Whether parts are digested for the signature, for which they are read twice. Default true. False is for `https` alone.
    public var signsPayload = true
    /// Fields of the object, such as `Content-Type` and `x-amz-meta-…`.
    public var fields: [String: String] = [:]
    /// Who waits between attempts. Default: the system's clock.
    public var clock: S3Clock = .system
    /// Called with the upload when it was created and after each part, from any thread, one call after the other: to store it.
    public var didAdvance: (@Sendable (S3Upload) -> Void)?

    /// The defaults.
    public init() {}
}

/// What an upload made.
public struct S3StoredObject: Sendable, Hashable {
    /// What the server calls the content.
    public let eTag: String?
    /// The version, where the bucket keeps versions.
    public let versionID: String?
}

/// An upload cannot go on.
public enum S3UploadError: Error, Sendable, LocalizedError, CustomStringConvertible {
    /// The file is not there, is no regular file, or cannot be read.
    case unreadableFile(path: String)
    /// The file has another size than when the upload began; bytes.
    case fileChanged(path: String, expected: Int64, found: Int64)
    /// The server's answer lacks what the upload needs.
    case unexpectedAnswer(String)
    /// A stream has more parts than a multipart upload may have. A larger ``S3Options/partSize`` is needed.
    case tooManyParts(partSize: Int)
    /// The upload began and failed. ``S3/continueUpload(_:fromFile:options:)`` goes on, ``S3/abort(_:)`` gives it up.
    case interrupted(S3Upload, any Error)

    /// In plain words.
    public var description: String {
        switch self {
        case .unreadableFile(let path): "the file \(path) cannot be read, or is no regular file"
        case .fileChanged(let path, let expected, let found):
            "the file \(path) had \(expected) bytes when the upload began, and has \(found) now; begin anew"
        case .unexpectedAnswer(let text): text
        case .tooManyParts(let size):
            "the stream has more than \(PartPlan.maximumParts) parts of \(size) bytes; set a larger partSize"
        case .interrupted(let upload, let error):
            "the upload of \(upload.url.absoluteString) was interrupted with \(upload.parts.count) parts stored: "
                + error.localizedDescription
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
