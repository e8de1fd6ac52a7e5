import Foundation
import Synchronization

/// A response with its content, as a cache stores it.
///
/// Follows Apple's `CachedURLResponse`. Instances are immutable: caches and sessions use what a response was made with,
/// whatever a subclass returns.
open class CachedURLResponse: NSObject, NSCopying, @unchecked Sendable {  // set before it is shared
    /// The values that the response was made with.
    package struct Parts {
        package let response: URLResponse
        package let data: Data
        package let userInfo: [AnyHashable: Any]?
        package let storagePolicy: URLCache.StoragePolicy
    }

    package let parts: Parts

    /// The response.
    open var response: URLResponse { parts.response }

    /// The content.
    open var data: Data { parts.data }

    /// The program's own data about the response, or nil.
    ///
    /// A property list (strings, numbers, dates, data, arrays, and dictionaries with string keys) is stored on disk
    /// with the response. A response with any other data stays in memory.
    open var userInfo: [AnyHashable: Any]? { parts.userInfo }

    /// Where the response may be stored.
    open var storagePolicy: URLCache.StoragePolicy { parts.storagePolicy }

    /// The data that the loader needs to reuse the response; nil when a program made the response.
    package private(set) var metadata: CacheMetadata?

    /// Whether the load has not received all of the response: no delegate is asked about it.
    package var isIncomplete = false

    /// ``facts``, retained. Not `AtomicLazyReference`, whose functions are not specialised.
    private let retainedFacts = Atomic<UnsafeRawPointer?>(nil)

    /// Makes a response that may be stored in memory and on disk.
    public init(response: URLResponse, data: Data) {
        parts = Parts(response: response, data: data, userInfo: nil, storagePolicy: .allowed)
    }

    /// Makes a response with the program's own data and a storage policy.
    public init(
        response: URLResponse, data: Data, userInfo: [AnyHashable: Any]? = nil, storagePolicy: URLCache.StoragePolicy
    ) {
        parts = Parts(response: response, data: data, userInfo: userInfo, storagePolicy: storagePolicy)
    }

    /// Not a designated initializer: a program's subclass could not override it, and would then not inherit the others.
    package convenience init(
        response: URLResponse, data: Data, userInfo: [AnyHashable: Any]?, storagePolicy: URLCache.StoragePolicy,
        metadata: CacheMetadata?
    ) {
        self.init(response: response, data: data, userInfo: userInfo, storagePolicy: storagePolicy)
        self.metadata = metadata
    }

    deinit {
        if let kept = retainedFacts.load(ordering: .acquiring) { Unmanaged<AnyObject>.fromOpaque(kept).release() }
    }

    /// The object that the loader has made from the response's fields, for the next use of the response.
    package var facts: AnyObject? {
        retainedFacts.load(ordering: .acquiring).map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Keeps the loader's object, unless there is one.
    package func keep(facts: any AnyObject & Sendable) {
        let retained = Unmanaged<AnyObject>.passRetained(facts)
        let isKept = retainedFacts.compareExchange(
            expected: nil, desired: UnsafeRawPointer(retained.toOpaque()), ordering: .acquiringAndReleasing
        ).exchanged
        if !isKept { retained.release() }
    }

    /// The response itself, or a copy where the response has trailer fields, which are not stored.
    package var withoutTrailers: CachedURLResponse {
        guard let head = parts.response as? HTTPURLResponse, head.trailers != nil else { return self }
        return CachedURLResponse(
            response: head.withoutTrailers, data: parts.data, userInfo: parts.userInfo,
            storagePolicy: parts.storagePolicy, metadata: metadata)
    }

    /// The same as ``copy(with:)``.
    open override func copy() -> Any { copy(with: nil) }

    /// Returns the response itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether response, data, user info and policy are the same.
    open override func isEqual(_ value: Any?) -> Bool {
        guard let other = value as? CachedURLResponse else { return false }
        let (mine, others) = (parts, other.parts)
        return self === other
            || (mine.response == others.response && mine.data == others.data
                && mine.storagePolicy == others.storagePolicy
                && mine.userInfo.map { NSDictionary(dictionary: $0) }
                    == others.userInfo.map { NSDictionary(dictionary: $0) })
    }

    /// Agrees with ``isEqual(_:)``.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(parts.response)
        hasher.combine(parts.data.count)
        return hasher.finalize()
    }
}
