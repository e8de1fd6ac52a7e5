import Foundation

/// Which server an ``S3Client`` talks to, and how it sends objects.
public struct S3Options: Sendable {
    /// How a bucket is named in a request.
    public enum Addressing: Sendable, Hashable {
        /// With Amazon in the host's name, where the bucket's name can be part of one; else in the path. Buckets with dots
        /// are always in the path over TLS, whose certificates do not cover them.
        case automatic
        /// In the path: `https://server/bucket/key`.
        case path
        /// In the host's name: `https://bucket.server/key`. Names that cannot be part of one are in the path all the same.
        case virtualHost
    }

    /// Whether bodies are digested for the signature. Over `http` they always are.
    public enum PayloadSigning: Sendable, Hashable {
        /// Data, files and parts are digested. Streams of a known length up to ``multipartThreshold`` are sent unsigned over
        /// `https`, as TLS protects them, so that nothing is kept of them.
        case automatic
        /// All bodies are digested; streams are sent in parts that are kept in memory.
        case always
        /// Nothing is digested over `https` (`UNSIGNED-PAYLOAD`): a file is read once instead of twice.
        case never
    }

    /// The region, such as `eu-central-1`. Nil, the default: `AWS_REGION`, `AWS_DEFAULT_REGION`, that of the profile, or
    /// `us-east-1`.
    public var region: String?
    /// The server, such as `http://127.0.0.1:9000`. Nil, the default: `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, or Amazon's
    /// server of the region.
    public var endpoint: URL?
    /// Default `automatic`.
    public var addressing = Addressing.automatic
    /// Whether Amazon's servers are reached by names that have IPv6 addresses, too. Default false.
    public var usesDualStack = false
    /// Default `automatic`.
    public var payloadSigning = PayloadSigning.automatic
    /// A body of more bytes than this is sent in parts (multipart upload). Default 64 MiB.
    public var multipartThreshold: Int64 = 64 << 20
    /// The size of a part in bytes; larger where 10,000 parts would not be enough. Two parts of a stream are in memory at most.
    /// Default 8 MiB; Amazon takes 5 MiB to 5 GiB.
    public var partSize: Int = 8 << 20
    /// How often a part is sent before the upload fails. Default 3.
    public var partAttempts: Int = 3
    /// The environment variables. Default: the process's. Empty: neither variables nor files decide.
    /// No description shows them.
    public var environment: [String: String] {
        get { hiddenEnvironment.values }
        set { hiddenEnvironment = HiddenEnvironment(newValue) }
    }
    private var hiddenEnvironment = HiddenEnvironment(ProcessInfo.processInfo.environment)
    /// Where the date comes from. Default: the system's clock.
    public var clock: S3Clock = .system

    /// The defaults.
    ///
    /// - Parameters:
    ///   - region: nil: as ``region`` says.
    ///   - endpoint: nil: as ``endpoint`` says.
    public init(region: String? = nil, endpoint: URL? = nil) {
        self.region = region
        self.endpoint = endpoint
    }
}

/// An option cannot be used.
public enum S3OptionsError: Error, Sendable, Equatable, LocalizedError, CustomStringConvertible {
    /// The region has other characters than small letters, digits and hyphens.
    case invalidRegion(String)
    /// The endpoint is no URL of `http` or `https` with a host and without user, query and fragment.
    case invalidEndpoint(String)
    /// A presigned URL may be good for 1 to 604,800 seconds.
    case invalidLifetime(TimeInterval)

    /// In plain words.
    public var description: String {
        switch self {
        case .invalidRegion(let text): "\"\(text)\" is no region; one has small letters, digits and hyphens alone"
        case .invalidEndpoint(let text):
            "\"\(text)\" is no endpoint; one is a URL of http or https with a host and without user, query and fragment"
        case .invalidLifetime(let seconds): "a presigned URL is good for 1 to 604,800 seconds, and not for \(seconds)"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}

/// Where the date comes from, and who waits. Tests give one that they move.
public struct S3Clock: Sendable {
    /// The date.
    public let date: @Sendable () -> Date
    /// Waits so many seconds. Throws `CancellationError` at once when the task is cancelled.
    public let sleep: @Sendable (TimeInterval) async throws -> Void

    /// A clock of these closures.
    public init(date: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (TimeInterval) async throws -> Void) {
        self.date = date
        self.sleep = sleep
    }

    /// The system's.
    public static let system = S3Clock(
        date: { Date() }, sleep: { try await Task.sleep(for: .seconds($0.isNaN ? 0 : min(max($0, 0), 1e6))) })
}
