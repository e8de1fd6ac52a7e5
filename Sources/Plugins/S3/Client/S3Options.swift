import Foundation

/// The server of an ``S3Client``, and the way in which the client sends objects.
public struct S3Options: Sendable {
    /// The place of a bucket's name in a request.
    public enum Addressing: Sendable, Hashable {
        /// With Amazon in the host name, where the bucket's name can be part of it; otherwise in the path. Over TLS,
        /// names with dots are always in the path, because the certificates do not cover them.
        case automatic
        /// In the path: `https://server/bucket/key`.
        case path
        /// In the host name: `https://bucket.server/key`. Names that cannot be part of a host name are in the path all
        /// the same.
        case virtualHost
    }

    /// Whether bodies are digested for the signature. Over `http` they always are.
    public enum PayloadSigning: Sendable, Hashable {
        /// Data, files and parts are digested. Streams of a known length up to ``multipartThreshold`` are sent unsigned
        /// over `https`, because TLS protects them; they are not kept in memory.
        case automatic
        /// All bodies are digested; streams are sent in parts that are kept in memory.
        case always
        /// No body is digested over `https` (`UNSIGNED-PAYLOAD`): a file is read once instead of twice.
        case never
    }

    /// The region, such as `eu-central-1`. Nil, the default: `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile's region,
    /// or `us-east-1`.
    public var region: String?
    /// The server, such as `http://127.0.0.1:9000`. Nil, the default: `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, or
    /// Amazon's server of the region.
    public var endpoint: URL?
    /// The place of a bucket's name. Default `automatic`.
    public var addressing = Addressing.automatic
    /// Whether Amazon's servers are reached by names that also have IPv6 addresses. Default false.
    public var usesDualStack = false
    /// The digests of bodies. Default `automatic`.
    public var payloadSigning = PayloadSigning.automatic
    /// The size in bytes beyond which a body is sent in parts (multipart upload). Default 64 MiB. A body whose request
    /// has a checksum of it is sent in one request up to 5 GiB.
    public var multipartThreshold: Int64 = 64 << 20
    /// The size of a part in bytes; larger where 10,000 parts would not be sufficient. At most two parts of a stream
    /// are in memory. Default 8 MiB; Amazon accepts 5 MiB to 5 GiB.
    public var partSize: Int = 8 << 20
    /// The number of attempts for a part before the upload fails. Default 3.
    public var partAttempts: Int = 3
    /// The environment variables. Default: the process's. Empty: neither variables nor files are used. No description
    /// shows them.
    public var environment: [String: String] {
        get { hiddenEnvironment.values }
        set { hiddenEnvironment = HiddenEnvironment(newValue) }
    }
    private var hiddenEnvironment = HiddenEnvironment(ProcessInfo.processInfo.environment)
    /// The source of the date. Default: the system's clock.
    public var clock: S3Clock = .system
    /// Waits for the time in which the first bytes of an error's body must arrive. The error does not wait for the end
    /// of the body, which may never come. They may name the region or the time with which the request is sent again, so
    /// that they may come over a slow connection. Tests end it early.
    var waitForErrorBody: @Sendable () async -> Void = { try? await Task.sleep(for: .seconds(10)) }

    /// Makes the default options.
    ///
    /// - Parameters:
    ///   - region: nil: see ``region``.
    ///   - endpoint: nil: see ``endpoint``.
    public init(region: String? = nil, endpoint: URL? = nil) {
        self.region = region
        self.endpoint = endpoint
    }
}

/// Environment variables, which may contain secrets: descriptions and `dump` show none of them.
struct HiddenEnvironment: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var values: [String: String]

    init(_ values: [String: String]) { self.values = values }

    /// The value of a variable; nil where it is missing or empty.
    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    var description: String { "an environment of \(values.count) variables" }

    var debugDescription: String { description }

    var customMirror: Mirror { Mirror(self, children: ["count": values.count]) }
}

/// The error for an option that cannot be used.
public enum S3OptionsError: Error, Sendable, Equatable, LocalizedError, CustomStringConvertible {
    /// The region has characters other than lower-case letters, digits and hyphens.
    case invalidRegion(String)
    /// The endpoint is not an `http` or `https` URL with a host and without user, query and fragment.
    case invalidEndpoint(String)
    /// The lifetime of a presigned URL is not 1 to 604,800 seconds.
    case invalidLifetime(TimeInterval)

    /// The description in plain words.
    public var description: String {
        switch self {
        case .invalidRegion(let text):
            "\"\(text)\" is not a region: a region consists of lower-case letters, digits and hyphens"
        case .invalidEndpoint(let text):
            "\"\(text)\" is not an endpoint: use an http or https URL with a host, and without user, query and fragment"
        case .invalidLifetime(let seconds): "a presigned URL can be valid for 1 to 604,800 seconds, not for \(seconds)"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}

/// The source of the date, and of waits. Tests supply one that they control.
public struct S3Clock: Sendable {
    /// The date.
    public let date: @Sendable () -> Date
    /// Waits for a number of seconds. Throws `CancellationError` at once when the task is cancelled.
    public let sleep: @Sendable (TimeInterval) async throws -> Void

    /// Makes a clock from these closures.
    public init(date: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (TimeInterval) async throws -> Void) {
        self.date = date
        self.sleep = sleep
    }

    /// The system's clock.
    public static let system = S3Clock(
        date: { Date() }, sleep: { try await Task.sleep(for: .seconds($0.isNaN ? 0 : min(max($0, 0), 1e6))) })
}
