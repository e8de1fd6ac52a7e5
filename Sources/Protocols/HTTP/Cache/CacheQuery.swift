import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// A request as the cache sees it.
struct CacheQuery {
    let method: String
    let url: URL
    let policy: URLRequest.CachePolicy
    let control: CacheControl
    /// The program's own fields.
    let fields: HTTPFields
    /// Some servers let the body of a GET matter, though it has no meaning that is known (RFC 9110 §9.3.1).
    let hasBody: Bool

    init(_ request: URLRequest, url: URL, policy: URLRequest.CachePolicy) {
        method = request.httpMethod ?? "GET"
        self.url = url
        self.policy = policy
        fields = request.fields
        hasBody = request.hasBody
        control = CacheControl(ofRequest: fields)
    }

    /// Whether anything stored may answer (RFC 9111 §4).
    var isLookedUp: Bool {
        guard method == "GET" || method == "HEAD", !hasBody else { return false }
        switch policy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: return false
        case .useProtocolCachePolicy, .reloadRevalidatingCacheData: return !control.has(.noStore)
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad: return true
        }
    }

    /// What the policy has the request say to the caches on its way, where the program says nothing itself.
    func directives(validating: Bool) -> HTTPFields {
        var extra = HTTPFields()
        guard !fields.contains(.cacheControl) else { return extra }
        switch policy {
        case .reloadIgnoringLocalAndRemoteCacheData:
            extra.append(.cacheControl, "no-cache")
            if !fields.contains(.pragma) { extra.append(.pragma, "no-cache") }
        case .reloadRevalidatingCacheData:
            extra.append(.cacheControl, "max-age=0")
        case .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .returnCacheDataElseLoad,
            .returnCacheDataDontLoad:
            break
        }
        return extra
    }
}
