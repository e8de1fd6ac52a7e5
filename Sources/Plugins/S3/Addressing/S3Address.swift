import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// The address in an `s3:` URL: a bucket, and the key of an object in it.
///
/// `s3://bucket/key` contains the key percent-encoded: `?`, `#` and `%` of a key are `%3F`, `%23` and `%25`. `+` is a
/// plus. Slashes and dots are part of the key: `a//b` and `a/../b` are ordinary keys.
public struct S3Address: Sendable, Hashable, CustomStringConvertible {
    /// The bucket's name.
    public let bucket: String
    /// The key's bytes, decoded.
    let keyBytes: [UInt8]

    /// The object's key; empty for the bucket itself. Bytes that are not UTF-8 are replaced by U+FFFD.
    public var key: String { String(decoding: keyBytes, as: UTF8.self) }

    /// Makes the address of an object, or of a bucket.
    ///
    /// - Throws: ``S3AddressError`` where the bucket's name is not valid, or the key has more than 1,024 bytes.
    public init(bucket: String, key: String = "") throws {
        try self.init(bucket: bucket, keyBytes: Array(key.utf8))
    }

    init(bucket: String, keyBytes: [UInt8]) throws {
        guard BucketName.isValid(bucket) else { throw S3AddressError.invalidBucket(bucket) }
        guard keyBytes.count <= Self.maximumKeyLength else { throw S3AddressError.keyTooLong(keyBytes.count) }
        self.bucket = bucket
        self.keyBytes = keyBytes
    }

    /// Parses the address of an `s3:` URL. The URL's query is not part of it.
    ///
    /// - Throws: ``S3AddressError``.
    public init(_ url: URL) throws {
        // The unchanged text: Foundation's paths are decoded, and may lose slashes.
        var rest = url.absoluteString[...]
        guard let colon = rest.firstIndex(of: ":"), rest[..<colon].lowercased() == "s3",
            rest[colon...].hasPrefix("://")
        else { throw S3AddressError.notS3(scheme: url.scheme ?? "") }
        rest = rest[colon...].dropFirst(3)
        guard !rest.contains("#") else { throw S3AddressError.hasFragment }
        rest = rest.prefix { $0 != "?" }
        let authority = rest.prefix { $0 != "/" }
        guard !authority.contains("@"), !authority.contains(":") else { throw S3AddressError.hasUserOrPort }
        let path = rest.dropFirst(authority.count + 1)
        try self.init(bucket: String(authority), keyBytes: PercentCoding.decoded(String(path)))
    }

    /// Amazon's limit for a key, in bytes of UTF-8.
    private static let maximumKeyLength = 1024

    /// The key as it is in a path: percent-encoded, with its slashes.
    var encodedKey: String { PercentCoding.encoded(keyBytes, keeping: "-._~/") }

    /// The address as an `s3:` URL.
    public var url: URL {
        // The text consists of unreserved characters, slashes and percent-encoded bytes: it is always a URL.
        URL(string: description) ?? URL(fileURLWithPath: "/")
    }

    /// The address as a URL.
    public var description: String { "s3://\(bucket)/\(encodedKey)" }

    /// The URL with a query, for a subresource of an object or a bucket (`?uploads`).
    func url(_ query: [CanonicalRequest.QueryItem]) throws -> URL {
        guard let url = URL(string: "\(description)?\(CanonicalRequest.QueryItem.query(query))") else {
            throw S3AddressError.invalidBucket(bucket)
        }
        return url
    }
}

/// The error for an `s3:` URL or a bucket's name that cannot be used.
public enum S3AddressError: Error, Sendable, Equatable, LocalizedError, CustomStringConvertible {
    /// The URL has another scheme.
    case notS3(scheme: String)
    /// The bucket's name is empty, or has characters that are not permitted in a bucket's name.
    case invalidBucket(String)
    /// The key has this number of bytes; the limit is 1,024.
    case keyTooLong(Int)
    /// The URL has a fragment: a `#` of a key is `%23`.
    case hasFragment
    /// The URL has a user or a port: the endpoint and the credentials belong to the client.
    case hasUserOrPort

    /// The description in plain words.
    public var description: String {
        switch self {
        case .notS3(let scheme): "the URL's scheme is \(scheme) and not s3"
        case .invalidBucket(let name):
            "\"\(name)\" is not a bucket name: it must have 3 to 255 letters, digits, dots, hyphens and underscores"
        case .keyTooLong(let count): "the key has \(count) bytes in UTF-8; the limit is 1,024"
        case .hasFragment: "the URL has a fragment; where the # is part of the key, write %23"
        case .hasUserOrPort:
            "an s3: URL must not have a user or a port: pass the credentials to S3Client, and the endpoint to S3Options"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}

/// The rules for bucket names.
enum BucketName {
    /// Whether the name can be sent in a path. Old buckets have upper-case letters, underscores and up to 255
    /// characters.
    static func isValid(_ name: String) -> Bool {
        (3...255).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-._".utf8.contains($0) }
            && !name.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
    }

    /// Whether the name can be part of a host name: lower-case letters, digits, hyphens, and dots between labels.
    static func isHostName(_ name: String) -> Bool {
        guard name.utf8.count <= 63, name == name.lowercased(), !name.contains("_") else { return false }
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && !label.hasPrefix("-") && !label.hasSuffix("-")
        }
    }
}
