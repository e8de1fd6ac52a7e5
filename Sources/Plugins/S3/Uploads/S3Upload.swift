import Foundation

/// A started multipart upload: the data with which it can be continued, even in another process.
///
/// It is `Codable`. It contains no credentials. The server stores the parts, and bills them, until the upload is
/// completed or aborted.
public struct S3Upload: Sendable, Hashable, Codable {
    /// A part that the server has.
    public struct Part: Sendable, Hashable, Codable {
        /// The part's number, from 1 to 10,000.
        public let number: Int
        /// The server's entity tag of the part.
        public let eTag: String
        /// The size in bytes.
        public let size: Int
    }

    /// The object: an `s3:` URL.
    public let url: URL
    /// The server's identifier of the upload.
    public let uploadID: String
    /// The file's size in bytes. A file of another size is refused.
    public let size: Int64
    /// The size of a part in bytes; the last may be smaller.
    public let partSize: Int
    /// The parts that the server has, in order.
    public internal(set) var parts: [Part]

    /// The number of bytes that the server has.
    public var countOfBytesStored: Int64 {
        parts.reduce(0) { sum, part in
            let (next, overflows) = sum.addingReportingOverflow(Int64(max(0, part.size)))
            return overflows ? .max : next
        }
    }

    var plan: PartPlan { PartPlan(size: size, partSize: partSize) }

    /// The numbers of the parts that are still to be sent. A part with another size than planned is sent again.
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

/// The options for ``S3/upload(fromFile:to:options:)``.
public struct S3UploadOptions: Sendable {
    /// The size of a part in bytes; larger where 10,000 parts would not be sufficient. Default 8 MiB; Amazon accepts
    /// 5 MiB to 5 GiB.
    public var partSize = 8 << 20
    /// The number of parts that are sent at the same time. Default 4. Parts are read while they are sent.
    public var partsAtOnce = 4
    /// The number of attempts for a part before the upload fails. Default 3.
    public var partAttempts = 3
    /// Whether parts are digested for the signature, for which they are read twice. Default true. False is possible
    /// only with `https`.
    public var signsPayload = true
    /// Fields of the object, such as `Content-Type` and `x-amz-meta-…`. A checksum of the file is an error.
    public var fields: [String: String] = [:]
    /// The clock for waits between attempts. Default: the system's.
    public var clock: S3Clock = .system
    /// Called with the upload after its creation and after each part, from any thread, one call at a time: to store the
    /// upload.
    public var didAdvance: (@Sendable (S3Upload) -> Void)?

    /// Makes the default options.
    public init() {}
}

/// The result of an upload.
public struct S3StoredObject: Sendable, Hashable {
    /// The server's entity tag of the content.
    public let eTag: String?
    /// The version, where the bucket has versioning.
    public let versionID: String?
}

/// The error for an upload that cannot continue.
public enum S3UploadError: Error, Sendable, LocalizedError, CustomStringConvertible {
    /// The file is missing, is not a regular file, or cannot be read.
    case unreadableFile(path: String)
    /// The file has another size than at the upload's start, in bytes.
    case fileChanged(path: String, expected: Int64, found: Int64)
    /// The server's answer lacks data that the upload requires.
    case unexpectedAnswer(String)
    /// A stream has more parts than a multipart upload permits. A larger ``S3Options/partSize`` is needed.
    case tooManyParts(partSize: Int)
    /// The request has a checksum of the whole body in this field, `Content-MD5` or `x-amz-checksum-…`, and the body must
    /// be sent in parts: no server would verify it. Nothing was sent.
    case wholeBodyChecksum(field: String)
    /// The upload started and failed. ``S3/continueUpload(_:fromFile:options:)`` continues it, ``S3/abort(_:)`` aborts
    /// it.
    case interrupted(S3Upload, any Error)

    /// The description in plain words.
    public var description: String {
        switch self {
        case .unreadableFile(let path): "the file \(path) cannot be read, or is not a regular file"
        case .fileChanged(let path, let expected, let found):
            "the file \(path) had \(expected) bytes when the upload started, and has \(found) now; start a new upload"
        case .unexpectedAnswer(let text): text
        case .tooManyParts(let size):
            "the stream has more than \(PartPlan.maximumParts) parts of \(size) bytes; set a larger partSize"
        case .wholeBodyChecksum(let field):
            "\(field) is a checksum of the whole body, which no server verifies for a body in parts: leave it out, or send up to 5 GiB "
                + "in one PUT, as data, as a file or, over https, as a stream with Content-Length"
        case .interrupted(let upload, let error):
            "the upload of \(upload.url.absoluteString) was interrupted with \(upload.parts.count) parts stored: "
                + error.localizedDescription
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
