#if HTTPTypes
    import HTTPTypes
    import LoadingKit

    extension URLSessionTask {
        /// The request with which the task was created; see ``LoadingKit/URLRequest/httpRequest``.
        public var originalHTTPRequest: HTTPRequest? { originalRequest?.httpRequest }

        /// The request that is being loaded: after a redirect, it differs from the original.
        public var currentHTTPRequest: HTTPRequest? { currentRequest?.httpRequest }

        /// The response; nil while there is none, and where it is not an HTTP response.
        public var httpResponse: HTTPResponse? { (response as? HTTPURLResponse)?.httpResponse }
    }
#endif
