import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// Loads `http` and `https` URLs.
public final class HTTPProtocolHandler: URLProtocolHandler, LoopNativeHandler, @unchecked Sendable {  // stateless
    /// Whether the URL's scheme is `http` or `https`.
    public override class func canInit(with request: URLRequest) -> Bool {
        guard let url = request.url else { return false }
        return url.hasScheme("https") || url.hasScheme("http")
    }

    package static let ranges = RangeSupport.assumed

    package static let resumesUploads = true

    package static func makeLoad(_ request: URLRequest, _ resources: LoadResources) -> any LoopHandler {
        if resources.task is URLSessionWebSocketTask { return WebSocketLoad(request, resources) }
        let request = HSTS.applied(to: request, resources)
        if let task = resources.task as? URLSessionUploadTask, let upload = ResumableUpload(request, task, resources) {
            return upload
        }
        return makeExchange(request, resources)
    }

    package static func hasStore(for request: URLRequest, _ resources: LoadResources) -> Bool {
        guard resources.core.settings.urlCache != nil, canBeStored(request, resources.core) else { return false }
        if let upload = resources.task as? URLSessionUploadTask { return upload.resumption == nil }
        return !(resources.task is URLSessionWebSocketTask)
    }

    /// Whether a stored response can answer the request: none leaves a connection to the program, and each is decoded.
    private static func canBeStored(_ request: URLRequest, _ session: SessionCore) -> Bool {
        !request.requestsConnection && !session.keepsContentCodings(of: request)
    }

    /// - Parameter fields: the fields that are sent with the request and do not come from the program.
    static func makeExchange(
        _ request: URLRequest, _ resources: LoadResources, adding fields: HTTPFields = HTTPFields()
    ) -> any LoopHandler {
        let session = resources.core
        // A response to an unsafe method invalidates stored responses even if it is not stored itself (RFC 9111 §4.4).
        guard let cache = SessionCache.of(session), case let mayStore = mayStore(request, resources),
            mayStore || !request.requestsConnection && !RequestMethod.isSafe(request.httpMethod ?? "GET")
        else {
            // There may be other caches on the way.
            var all = session.cachePolicy(of: request).directives(for: request.fields)
            for field in fields { all.append(name: field.name, value: field.value) }
            return HTTPExchange(request, resources, HTTPSession.of(session), cacheFields: all)
        }
        return CachedExchange(request, resources, cache, adding: fields, mayStore: mayStore)
    }

    /// Whether the cache may answer the request and store its response. The response of a download task is not stored,
    /// as on Apple's systems. Only a download that must not load is answered from the cache.
    private static func mayStore(_ request: URLRequest, _ resources: LoadResources) -> Bool {
        guard !(resources.task is URLSessionDownloadTask) || resources.core.forbidsLoading(request) else {
            return false
        }
        return canBeStored(request, resources.core)
    }
}
