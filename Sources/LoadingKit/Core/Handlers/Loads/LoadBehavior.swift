import Foundation

/// The program's code that a custom load runs.
enum LoadBehavior {
    case handler(URLProtocolHandler)
    /// An interceptor has a `load(_:)`, and neither `startLoading()` nor a client.
    case interceptor(any LoadInterceptor)

    /// The type, for messages.
    var type: Any.Type {
        switch self {
        case .handler(let handler): Swift.type(of: handler)
        case .interceptor(let interceptor): Swift.type(of: interceptor)
        }
    }

    var cachedResponse: CachedURLResponse? {
        switch self {
        case .handler(let handler): handler.cachedResponse
        case .interceptor: nil
        }
    }

    /// Whether `load(_:)` runs on the session's event loop.
    var runsOnLoop: Bool {
        switch self {
        case .handler(let handler): handler is any LoopAwareHandler
        case .interceptor(let interceptor): interceptor.runsOnSessionExecutor
        }
    }

    /// The handler, where its class overrides the method.
    func handler(overriding method: OverridableMethod) -> URLProtocolHandler? {
        switch self {
        case .handler(let handler): method.isOverridden(by: handler) ? handler : nil
        case .interceptor: nil
        }
    }
}
