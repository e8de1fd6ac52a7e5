import Foundation
import LoadingKitCore

/// Opens WebSocket connections to `ws` and `wss` URLs; those to `http` and `https` go the same way.
public final class WebSocketHandler: URLProtocolHandler, LoopNativeHandler, @unchecked Sendable {  // stateless
    /// Whether the URL's scheme is `ws` or `wss`.
    public override class func canInit(with request: URLRequest) -> Bool {
        request.url.map(WebSocketURL.isWebSocket) ?? false
    }

    package static func makeLoad(_ request: URLRequest, _ resources: LoadResources) -> any LoopHandler {
        WebSocketLoad(request, resources)
    }
}
