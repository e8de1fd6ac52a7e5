import Foundation
import LoadingKitCore
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// The values of a response that concern a resumable upload (draft-ietf-httpbis-resumable-upload, "Upload Resource").
struct UploadAnswer: Equatable {
    enum Location: Equatable {
        case resource(URL)
        /// The resource has another origin, and is not used: unlike for a redirect, the program cannot decide about it.
        case elsewhere
    }

    let status: Int
    var location: Location?
    var offset: Int64?
    var length: Int64?
    var isComplete: Bool?
    var limits: UploadLimits?
    /// In seconds.
    var retryAfter: Double?
    /// The version of the draft that the server has used; nil if the response names none, as in the final version.
    var interopVersion: Int64?

    init(status: Int) { self.status = status }

    /// - Parameter request: the response's request.
    init(_ response: HTTPURLResponse, to request: URLRequest) {
        let fields = response.fields
        status = response.statusCode
        offset = Self.count(fields, UploadField.offset)
        length = Self.count(fields, UploadField.length)
        if case .boolean(let value)? = Self.item(fields, UploadField.complete) { isComplete = value }
        limits = fields[name: UploadField.limit].flatMap { UploadLimits($0) }
        if case .integer(let version)? = Self.item(fields, UploadField.interopVersion) { interopVersion = version }
        let now = Date().timeIntervalSince1970
        retryAfter = fields[.retryAfter].flatMap { HTTPDate.delay(ofRetryAfter: $0, now: now) }
        // A relative location contains no user. The base URL's user is removed, so that it still has the same origin.
        if let text = fields[.location], !text.isEmpty, let url = request.url?.withoutCredentials {
            location = Self.location(fields.firstURL(of: .location, relativeTo: url), of: url)
        }
    }

    private static func item(_ fields: HTTPFields, _ name: String) -> StructuredField.Value? {
        fields[name: name].flatMap { StructuredField.item($0) }
    }

    /// A field with another value than a nonnegative Integer is ignored.
    private static func count(_ fields: HTTPFields, _ name: String) -> Int64? {
        guard case .integer(let number)? = item(fields, name), number >= 0 else { return nil }
        return number
    }

    private static func location(_ url: URL?, of old: URL) -> Location {
        guard let url, url.hasScheme("http") || url.hasScheme("https"), let target = try? RequestTarget(url),
            !target.hasUserInfo, let origin = try? RequestTarget(old).origin, target.origin == origin
        else { return .elsewhere }
        return .resource(url)
    }
}

/// A server's limits, in bytes.
struct UploadLimits: Equatable {
    /// The limit for the whole body.
    var maxSize: Int64?
    /// The limit for one request's part of the body.
    var maxAppendSize: Int64?
}

extension UploadLimits {
    /// Nil if the field must be ignored: it is no Dictionary, or a known member is no Integer.
    init?(_ text: String) {
        guard let members = StructuredField.dictionary(text) else { return nil }
        for name in ["max-size", "min-size", "max-append-size", "min-append-size", "max-age"] {
            guard let member = members[name] else { continue }
            guard case .integer(let number) = member, number >= 0 else { return nil }
            switch name {
            case "max-size": maxSize = number
            case "max-append-size": maxAppendSize = number
            case _: break
            }
        }
    }
}

/// The fields of resumable uploads, and the values that this client sends.
enum UploadField {
    static let complete = "Upload-Complete"
    static let offset = "Upload-Offset"
    static let length = "Upload-Length"
    static let limit = "Upload-Limit"
    static let interopVersion = "Upload-Draft-Interop-Version"

    /// The version of the draft that Apple's systems and existing servers implement. The client sends nothing that
    /// later versions do not define.
    static let spokenVersion = 6

    static let partType = "application/partial-upload"

    /// Whether the program implements such a protocol itself. The upload is then left to the program.
    static func areUsed(in fields: HTTPFields) -> Bool {
        fields.contains { $0.name.lowercased().hasPrefix("upload-") || $0.name.lowercased() == "tus-resumable" }
    }
}
