import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// What a response says of a resumable upload (draft-ietf-httpbis-resumable-upload, "Upload Resource").
struct UploadAnswer: Equatable {
    /// Where the upload goes on.
    enum Location: Equatable {
        case resource(URL)
        /// On another origin, where this client does not follow: unlike a redirect's, nobody is asked about it.
        case elsewhere
    }

    let status: Int
    var location: Location?
    /// Bytes of the body that the server has.
    var offset: Int64?
    var length: Int64?
    var isComplete: Bool?
    var limits: UploadLimits?
    /// Seconds.
    var retryAfter: Double?
    /// The version of the draft that the server has answered in; nil where it says none, as the final one will not.
    var interopVersion: Int64?

    init(status: Int) { self.status = status }

    /// - Parameter request: what is answered.
    init(_ response: HTTPURLResponse, to request: URLRequest) {
        let fields = response.fields
        status = response.statusCode
        offset = Self.count(fields, UploadField.offset)
        length = Self.count(fields, UploadField.length)
        if case .boolean(let value)? = Self.item(fields, UploadField.complete) { isComplete = value }
        limits = fields[name: UploadField.limit].flatMap { UploadLimits($0) }
        if case .integer(let version)? = Self.item(fields, UploadField.interopVersion) { interopVersion = version }
        retryAfter = fields[.retryAfter].flatMap { UInt32($0.trimmingCharacters(in: .whitespaces)) }.map(Double.init)
        // A relative location has no user of its own: without that of the request it is one of the same place.
        if let text = fields[.location], !text.isEmpty, let url = request.url?.withoutCredentials {
            location = Self.location(fields.urls(of: .location, relativeTo: url).first, of: url)
        }
    }

    private static func item(_ fields: HTTPFields, _ name: String) -> StructuredField.Value? {
        fields[name: name].flatMap { StructuredField.item($0) }
    }

    /// What is no Integer, or a negative one, is as if it were not there.
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

/// What a server accepts of an upload, in bytes.
struct UploadLimits: Equatable {
    /// Of the whole body.
    var maxSize: Int64?
    /// Of one request's part of it.
    var maxAppendSize: Int64?

    init(maxSize: Int64? = nil, maxAppendSize: Int64? = nil) {
        self.maxSize = maxSize
        self.maxAppendSize = maxAppendSize
    }

    /// Nil where the field is to be ignored: it is no Dictionary, or a member that is known is no Integer.
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

    /// Of the draft's versions the one that Apple's systems and the servers that there are speak. What it has the client send
    /// is what the later ones have, too.
    static let spokenVersion = 6

    static let partType = "application/partial-upload"

    /// Whether the program speaks such a protocol itself: then it is left to it.
    static func areUsed(in fields: HTTPFields) -> Bool {
        fields.contains { $0.name.lowercased().hasPrefix("upload-") || $0.name.lowercased() == "tus-resumable" }
    }
}
