#if HTTPTypes
    import Foundation
    import HTTPTypes
    import LoadingKit

    extension URLRequest {
        /// Makes a request from an `HTTPRequest`.
        ///
        /// Fields keep their order, repetitions and the case of their names, except `Cookie` fields, which become one.
        /// A value that is not UTF-8 is interpreted as ISO-8859-1, and sent as UTF-8. Indexing strategies are not kept.
        /// An extended `CONNECT` for a WebSocket becomes `GET` of a `ws` or `wss` URL.
        ///
        /// Nil where the pseudo-header fields do not form a URL: without scheme, authority or path, for `OPTIONS` of
        /// `*`, for `CONNECT`, and where they are malformed. The session's methods for an `HTTPRequest` throw
        /// ``HTTPTypeConversionError``, which has the reason.
        public init?(httpRequest: HTTPRequest) {
            guard let request = try? URLRequest(converting: httpRequest) else { return nil }
            self = request
        }

        init(converting request: HTTPRequest) throws(HTTPTypeConversionError) {
            let (url, method) = try RequestURL.make(request)
            self.init(url: url)
            httpMethod = method.rawValue
            let fields = request.headerFields.list
            if !fields.isEmpty { headerFields = fields }
        }

        /// The request as an `HTTPRequest`, without its body and its rules for caching, cookies and time.
        ///
        /// Fields keep their order. Those with names that HTTP does not permit are left out; in values, bytes that HTTP
        /// does not permit become spaces. The URL's user and fragment are left out. A `GET` of a `ws` or `wss` URL
        /// becomes an extended `CONNECT` for a WebSocket.
        ///
        /// Nil without a URL, for a URL without a scheme, and for a method that HTTP does not permit.
        public var httpRequest: HTTPRequest? {
            guard let method = HTTPRequest.Method(httpMethod ?? "GET"), let url, url.hasComponents,
                let fields = HTTPFields(list: headerFields)
            else { return nil }
            var request = HTTPRequest(method: method, url: url, headerFields: fields)
            guard method == .get, let scheme = request.scheme?.lowercased(), ["ws", "wss"].contains(scheme) else {
                return request
            }
            request.method = .connect
            request.scheme = scheme == "ws" ? "http" : "https"
            request.extendedConnectProtocol = "websocket"
            return request
        }
    }

    extension URL {
        /// Whether `HTTPRequest(url:)` accepts the URL: it traps for others.
        fileprivate var hasComponents: Bool {
            let components = URLComponents(url: self, resolvingAgainstBaseURL: true)
            return components?.string != nil && components?.rangeOfScheme != nil
        }
    }
#endif
