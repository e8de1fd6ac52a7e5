import Foundation
import LoadingKit
import Synchronization

/// One account at one S3 server: loads `s3://bucket/key` in the sessions in which it is installed.
///
/// ```swift
/// let configuration = URLSessionConfiguration.ephemeral
/// S3Client(options: S3Options(region: "eu-central-1")).install(in: configuration)
/// let session = URLSession(configuration: configuration)
/// let (data, _) = try await session.data(from: URL(string: "s3://bucket/key")!)
/// ```
///
/// Each request is signed (Signature Version 4), and forwarded to the session's own handlers as `https` or `http`, with
/// its connections, proxies, TLS and metrics. Two sessions share credentials and recorded server facts only where the
/// program installs the same client in both.
public final class S3Client: Sendable {
    let options: S3Options
    private let credentials: S3CachedCredentials?
    private let state = Mutex(S3ClientState())

    /// Makes a client with the credentials of a source.
    ///
    /// - Parameters:
    ///   - credentials: default: the usual chain, with the options' environment. An ``S3CachedCredentials`` is used
    ///     without a further cache.
    ///   - options: default: the environment's.
    public init(credentials: (any S3CredentialsProvider)? = nil, options: S3Options = S3Options()) {
        self.options = options
        let source = credentials ?? S3CredentialsChain(environment: options.environment)
        self.credentials = source as? S3CachedCredentials ?? S3CachedCredentials(source, clock: options.clock)
    }

    private init(anonymousWith options: S3Options) {
        self.options = options
        credentials = nil
    }

    /// Makes a client that signs nothing, for public buckets.
    public static func anonymous(options: S3Options = S3Options()) -> S3Client { S3Client(anonymousWith: options) }

    /// Loads `s3:` URLs in the sessions of a configuration with this client, which replaces an earlier one.
    ///
    /// Call this method before interceptors are added and factories for `http` and `https` are registered: handlers
    /// before this one do not get the requests that it forwards. If a configuration's `protocolClasses` are
    /// set later, the existing ones must be kept.
    public func install(in configuration: URLSessionConfiguration) {
        configuration.register(scheme: "s3") { load in
            try await S3Load(load, self).run()
        }
    }

    /// A URL that anyone can use for a limited time, without credentials.
    ///
    /// - Parameters:
    ///   - method: the method for which the URL is valid. Default `GET`.
    ///   - address: the object.
    ///   - seconds: the time for which it is valid, from 1 to 604,800; shorter where the credentials expire before.
    ///     Default 3,600.
    ///   - fields: fields that the request must have, such as `Content-Type` for `PUT`: they become part of the
    ///     signature.
    ///   - query: further query items, such as `response-content-disposition`.
    /// - Throws: ``S3OptionsError``, ``S3CredentialsError``.
    public func presignedURL(
        _ method: String = "GET", for address: S3Address, seconds: Int = 3600, fields: [String: String] = [:],
        query: [String: String] = [:]
    ) async throws -> URL {
        guard (1...604_800).contains(seconds) else { throw S3OptionsError.invalidLifetime(TimeInterval(seconds)) }
        let settings = try settings()
        let region = state.withLock { $0.region(of: address.bucket, or: settings.region) }
        let target = settings.endpoint.target(address, region: region)
        var items = query.sorted { $0.key < $1.key }.map { CanonicalRequest.QueryItem($0.key, $0.value) }
        if let credentials {
            let signature = SignatureV4(
                credentials: try await credentials.credentials(), region: region, date: serverDate)
            let canonical = CanonicalRequest(
                method: method, path: target.path, query: items,
                fields: fields.map { .init($0.key, $0.value) } + [.init("host", target.authority)],
                payload: S3Operation.unsignedPayload)
            items = signature.presignedQuery(canonical, seconds: seconds)
        }
        return try target.url(items)
    }

    // MARK: For loads

    /// The date, corrected by the servers' dates.
    private var serverDate: Date {
        let (date, instant) = (options.clock.date(), ContinuousClock.now)
        return state.withLock { $0.serverDate(at: date, instant) }
    }

    /// Options, environment and profile. The files are read once.
    func settings() throws -> S3Settings {
        if let settings = state.withLock({ $0.settings }) { return settings }
        var profile: [String: String] = [:]
        if options.region == nil || options.endpoint == nil {
            let files = SharedFiles(environment: options.environment)
            profile = try files.read().profiles[files.profile] ?? [:]
        }
        let settings = try S3Settings(options, profile: profile)
        state.withLock { $0.settings = settings }
        return settings
    }

    /// - Parameter region: the region for the signature; nil: the bucket's.
    func sign(_ operation: S3Operation, region: String? = nil) async throws -> SignedRequest {
        let settings = try settings()
        let bucket = operation.address.bucket
        let region = region ?? state.withLock { $0.region(of: bucket, or: settings.region) }
        let credentials = try await credentials?.credentials()
        return try operation.signed(
            for: settings.endpoint.target(operation.address, region: region), region: region, with: credentials,
            at: serverDate)
    }

    /// Stores a server's correction for the next request.
    func learn(_ correction: S3Correction, from signed: SignedRequest, _ bucket: String) {
        switch correction {
        case .clock(let serverDate):
            let (date, instant) = (options.clock.date(), ContinuousClock.now)
            state.withLock { $0.learn(serverDate: serverDate, at: date, instant) }
        case .region(let region): state.withLock { $0.learn(region: region, of: bucket) }
        case .credentials: if let used = signed.credentials { credentials?.reject(used) }
        }
    }
}

/// The facts that a client has recorded about servers: a value.
struct S3ClientState: Sendable {
    /// The largest number of buckets with a recorded region.
    static let maximumRegions = 1_000
    /// The largest difference, in seconds, between the times that have passed by this machine's clock and by the
    /// continuous clock. A larger one shows that this machine's clock was set.
    private static let maximumDrift: TimeInterval = 60

    var settings: S3Settings?
    /// The seconds by which a server's clock was ahead of this machine's, and the times at which this was recorded.
    private var skew: (seconds: TimeInterval, date: Date, instant: ContinuousClock.Instant)?
    private var regions: [String: String] = [:]

    func region(of bucket: String, or standard: String) -> String { regions[bucket] ?? standard }

    mutating func learn(region: String, of bucket: String) {
        // A removed region is determined again with one more request.
        if regions.count >= Self.maximumRegions, regions[bucket] == nil { regions.removeAll() }
        regions[bucket] = region
    }

    mutating func learn(serverDate: Date, at date: Date, _ instant: ContinuousClock.Instant) {
        skew = (serverDate.timeIntervalSince(date), date, instant)
    }

    /// Seconds by which the server's clock is ahead of this machine's.
    var clockSkew: TimeInterval { skew?.seconds ?? 0 }

    /// The server's date. The skew is dropped where this machine's clock was set after it was recorded.
    mutating func serverDate(at date: Date, _ instant: ContinuousClock.Instant) -> Date {
        if let skew {
            let drift = date.timeIntervalSince(skew.date) - (instant - skew.instant) / .seconds(1)
            if abs(drift) > Self.maximumDrift { self.skew = nil }
        }
        return date.addingTimeInterval(clockSkew)
    }
}
