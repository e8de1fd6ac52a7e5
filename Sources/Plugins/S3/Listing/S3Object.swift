import Foundation

/// An object in a listing.
public struct S3Object: Sendable, Hashable {
    /// The bucket's name.
    public let bucket: String
    /// The object's key.
    public let key: String
    /// In bytes.
    public let size: Int64
    /// What the server calls the content, with its quotes.
    public let eTag: String?
    /// When it was stored.
    public let lastModified: Date?
    /// Such as `STANDARD`.
    public let storageClass: String?

    /// The object's URL; nil for a key that no `s3:` URL can have (more than 1,024 bytes).
    public var url: URL? { (try? S3Address(bucket: bucket, key: key))?.url }
}

/// What a listing has, where it has a delimiter: objects, and what stands for those below it.
public enum S3ListingEntry: Sendable, Hashable {
    /// An object.
    case object(S3Object)
    /// The common beginning of keys, up to the delimiter: what a file system calls a folder.
    case prefix(String)
}

/// A page of a listing (ListObjectsV2): a value.
struct ListPage: Sendable, Equatable {
    var entries: [S3ListingEntry]
    /// Where the next page begins; nil behind the last.
    var next: String?

    /// - Throws: ``S3ListingError``.
    init(_ document: XMLElement, bucket: String) throws {
        guard document.name == "ListBucketResult" else { throw S3ListingError.unexpectedAnswer(document.name) }
        // Keys may have characters that XML cannot: they are asked for in this coding.
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

/// A listing cannot be read.
public enum S3ListingError: Error, Sendable, Equatable, LocalizedError, CustomStringConvertible {
    /// The answer is no listing; the name of its element.
    case unexpectedAnswer(String)
    /// The answer is no XML, or has more elements than a page.
    case malformed
    /// The page says that others follow, and not where.
    case noContinuation
    /// The next page is the same again.
    case repeatedPage
    /// So many pages in a row had no entries, and each said that others follow.
    case emptyPages(Int)

    /// In plain words.
    public var description: String {
        switch self {
        case .unexpectedAnswer(let name):
            "the server answers with \(name.shortened) where a listing was asked for; look whether the endpoint is a server of S3"
        case .malformed: "the listing is no XML, or has more elements than a page may have"
        case .noContinuation: "the listing says that more follows, and not where"
        case .repeatedPage: "the listing gives the same page again and again"
        case .emptyPages(let count):
            "the listing has had \(count) pages without an entry, and says that more follows: it may never end"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
