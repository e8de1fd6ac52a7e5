import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// An object in a listing.
public struct S3Object: Sendable, Hashable {
    /// The bucket's name.
    public let bucket: String
    /// The object's key.
    public let key: String
    /// The size in bytes.
    public let size: Int64
    /// The server's entity tag of the content, with its quotes.
    public let eTag: String?
    /// The time at which the object was stored.
    public let lastModified: Date?
    /// The storage class, such as `STANDARD`.
    public let storageClass: String?

    /// The object's URL; nil for a key that is too long for an `s3:` URL (more than 1,024 bytes).
    public var url: URL? { (try? S3Address(bucket: bucket, key: key))?.url }
}

/// An entry of a listing with a delimiter: an object, or a prefix that represents the objects below it.
public enum S3ListingEntry: Sendable, Hashable {
    /// An object.
    case object(S3Object)
    /// The common prefix of keys, up to the delimiter: the equivalent of a folder.
    case prefix(String)
}

/// A page of a listing (ListObjectsV2): a value.
struct ListPage: Sendable, Equatable {
    var entries: [S3ListingEntry]
    /// The start of the next page; nil after the last page.
    var next: String?

    /// - Throws: ``S3ListingError``.
    init(_ document: XMLElement, bucket: String) throws {
        guard document.name == "ListBucketResult" else { throw S3ListingError.unexpectedAnswer(document.name) }
        // Keys may contain characters that XML cannot: this coding is requested for them.
        let isEncoded = document["EncodingType"] == "url"
        func decoded(_ text: String) -> String {
            isEncoded ? String(decoding: PercentCoding.decoded(text, isForm: true), as: UTF8.self) : text
        }
        let objects = document.all("Contents").compactMap { element -> S3ListingEntry? in
            guard let key = element["Key"] else { return nil }
            return .object(
                S3Object(
                    bucket: bucket, key: decoded(key), size: element["Size"].flatMap { Int64($0) } ?? 0,
                    eTag: element["ETag"],
                    lastModified: element["LastModified"].flatMap { AmazonDate.parse(extended: $0) },
                    storageClass: element["StorageClass"]))
        }
        let prefixes = document.all("CommonPrefixes").compactMap { $0["Prefix"] }.map {
            S3ListingEntry.prefix(decoded($0))
        }
        entries = objects + prefixes
        let token = document["NextContinuationToken"]
        guard document["IsTruncated"] == "true" else { return }
        guard let token, !token.isEmpty else { throw S3ListingError.noContinuation }
        next = token
    }
}

/// The error for a listing that cannot be read.
public enum S3ListingError: Error, Sendable, Equatable, LocalizedError, CustomStringConvertible {
    /// The answer is not a listing; the name of its element.
    case unexpectedAnswer(String)
    /// The answer is not XML, or has more elements than a page.
    case malformed
    /// The page states that others follow, but not where they start.
    case noContinuation
    /// The next page is identical to this one.
    case repeatedPage
    /// The number of consecutive empty pages, each of which stated that others follow.
    case emptyPages(Int)

    /// The description in plain words.
    public var description: String {
        switch self {
        case .unexpectedAnswer(let name):
            "the server answered with \(name.shortened) instead of a listing; check whether the endpoint is an S3 server"
        case .malformed: "the listing is not XML, or has more elements than a page may have"
        case .noContinuation: "the listing is truncated, and has no token for the next page"
        case .repeatedPage: "the listing returned the same page twice"
        case .emptyPages(let count):
            "the listing has had \(count) consecutive pages without an entry: it may never end"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
