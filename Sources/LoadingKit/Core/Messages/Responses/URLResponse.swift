import Foundation
import LoadingKitPrimitives

/// What is known of a resource before its content: URL, type, length.
///
/// Follows Apple's `URLResponse`. Instances do not change after they are made, but for the trailer
/// fields of an ``HTTPURLResponse``. Properties that are computed from others
/// are computed when they are first used.
open class URLResponse: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {  // `let`s, and a Guarded
    /// The content's type and its text encoding.
    struct ContentType: Sendable {
        var mimeType: String?
        var textEncodingName: String?
    }

    private let storedURL: URL?
    private let storedLength: Int64
    private let contentType: Guarded<ContentType?>

    /// The URL that the content came from: after redirects, the last one.
    open var url: URL? { storedURL }

    /// The number of bytes that the content will have, or -1 when it is not known.
    open var expectedContentLength: Int64 { storedLength }

    /// The MIME type without parameters, lower-case, or nil when it is not known.
    open var mimeType: String? { resolvedContentType.mimeType }

    /// The IANA name of the text's encoding, lower-case, or nil when none was given.
    open var textEncodingName: String? { resolvedContentType.textEncodingName }

    /// A name for a file with the content: safe to use in a folder, with an extension where the type is known.
    ///
    /// It comes from the response's Content-Disposition field (RFC 6266), else from the URL's last path component,
    /// else from its host, else it is `Unknown`.
    open var suggestedFilename: String? {
        SuggestedFilename(contentDisposition: contentDisposition, url: url, mimeType: mimeType).string
    }

    /// Makes a response.
    ///
    /// - Parameters:
    ///   - url: The URL that the content came from.
    ///   - mimeType: The MIME type of the content, or nil.
    ///   - length: The number of bytes of the content, or -1 when it is not known.
    ///   - name: The IANA name of the text's encoding, or nil.
    public init(url: URL, mimeType: String?, expectedContentLength length: Int, textEncodingName name: String?) {
        storedURL = url
        storedLength = Int64(length)
        contentType = Guarded(ContentType(mimeType: mimeType, textEncodingName: name))
    }

    /// A response whose type ``makeContentType()`` gives.
    init(url: URL?, expectedContentLength: Int64) {
        storedURL = url
        storedLength = expectedContentLength
        contentType = Guarded(nil)
    }

    // MARK: For HTTPURLResponse

    /// The value of the Content-Disposition field, or nil.
    var contentDisposition: String? { nil }

    /// Makes the content's type. It is called when the type is first used, perhaps on several threads at once.
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

    /// Decodes what ``encode(with:)`` encoded; nil when the archive is not keyed, or lacks what is needed.
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

    /// The response itself, which does not change.
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
