import Foundation
import LoadingKitPrimitives

/// The properties of a resource that are known before its content: URL, type, length.
///
/// Follows Apple's `URLResponse`. Instances are immutable, except for the trailer fields of an ``HTTPURLResponse``.
/// Derived properties are computed at their first use.
open class URLResponse: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {  // `let`s, and a Guarded
    struct ContentType: Sendable {
        var mimeType: String?
        var textEncodingName: String?
    }

    private let storedURL: URL?
    private let storedLength: Int64
    private let contentType: Guarded<ContentType?>

    /// The URL of the content: after redirects, the last URL.
    open var url: URL? { storedURL }

    /// The expected number of bytes of the content, or -1 when it is not known.
    open var expectedContentLength: Int64 { storedLength }

    /// The MIME type without parameters, lower-case, or nil when it is not known.
    open var mimeType: String? { resolvedContentType.mimeType }

    /// The IANA name of the text's encoding, lower-case, or nil when the response has none.
    open var textEncodingName: String? { resolvedContentType.textEncodingName }

    /// A name for a file with the content: safe to use in a folder, with an extension where the type is known.
    ///
    /// It comes from the response's Content-Disposition field (RFC 6266), otherwise from the URL's last path component,
    /// otherwise from its host, otherwise it is `Unknown`.
    open var suggestedFilename: String? {
        SuggestedFilename(contentDisposition: contentDisposition, url: url, mimeType: mimeType).string
    }

    /// Makes a response.
    ///
    /// - Parameters:
    ///   - url: The URL of the content.
    ///   - mimeType: The MIME type of the content, or nil.
    ///   - length: The number of bytes of the content, or -1 when it is not known.
    ///   - name: The IANA name of the text's encoding, or nil.
    public init(url: URL, mimeType: String?, expectedContentLength length: Int, textEncodingName name: String?) {
        storedURL = url
        storedLength = Int64(length)
        contentType = Guarded(ContentType(mimeType: mimeType, textEncodingName: name))
    }

    /// A response whose type is the result of ``makeContentType()``.
    init(url: URL?, expectedContentLength: Int64) {
        storedURL = url
        storedLength = expectedContentLength
        contentType = Guarded(nil)
    }

    // MARK: For HTTPURLResponse

    var contentDisposition: String? { nil }

    /// Makes the content's type. Called when the type is first used, possibly on several threads at once.
    func makeContentType() -> ContentType { ContentType() }

    private var resolvedContentType: ContentType {
        if let known = contentType.withLock({ $0 }) { return known }
        let made = makeContentType()
        contentType.withLock { $0 = made }
        return made
    }

    // MARK: NSSecureCoding, NSCopying

    private enum CodingKey {
        static let url = "url"
        static let mimeType = "mimeType"
        static let textEncodingName = "textEncodingName"
        static let expectedContentLength = "expectedContentLength"
    }

    /// True: archives may be decoded securely.
    public static var supportsSecureCoding: Bool { true }

    /// Decodes the result of ``encode(with:)``; nil when the archive is not keyed, or lacks a required value.
    public required init?(coder aDecoder: NSCoder) {
        guard aDecoder.allowsKeyedCoding else { return nil }
        storedURL = aDecoder.decodeURL(forKey: CodingKey.url)
        storedLength =
            aDecoder.decodeNumber(forKey: CodingKey.expectedContentLength)?.int64Value ?? -1
        contentType = Guarded(
            ContentType(
                mimeType: aDecoder.decodeString(forKey: CodingKey.mimeType),
                textEncodingName: aDecoder.decodeString(forKey: CodingKey.textEncodingName)))
    }

    /// Encodes the response into a keyed archive.
    open func encode(with aCoder: NSCoder) {
        guard aCoder.allowsKeyedCoding else { return }
        aCoder.encodeURL(url, forKey: CodingKey.url)
        aCoder.encodeString(mimeType, forKey: CodingKey.mimeType)
        aCoder.encodeString(textEncodingName, forKey: CodingKey.textEncodingName)
        aCoder.encode(NSNumber(value: expectedContentLength), forKey: CodingKey.expectedContentLength)
    }

    /// The same as ``copy(with:)``.
    open override func copy() -> Any { copy(with: nil) }

    /// Returns the response itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the class, the URL, the type, the encoding and the length are the same.
    open override func isEqual(_ value: Any?) -> Bool {
        guard let other = value as? URLResponse, type(of: other) == type(of: self) else { return false }
        return self === other
            || (url == other.url && expectedContentLength == other.expectedContentLength
                && mimeType == other.mimeType && textEncodingName == other.textEncodingName)
    }

    /// Agrees with ``isEqual(_:)``.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(expectedContentLength)
        return hasher.finalize()
    }

    /// URL, type and length.
    open override var description: String {
        "<\(type(of: self))> { URL: \(url?.absoluteString ?? "(null)"), type: \(mimeType ?? "(null)"), "
            + "length: \(expectedContentLength) }"
    }
}
