#if HTTPTypes
    import HTTPTypes
    import LoadingKit

    extension URLSessionTask {
        /// The request that the task was made with; see ``LoadingKit/URLRequest/httpRequest``.
        public var originalHTTPRequest: HTTPRequest? { originalRequest?.httpRequest }

        /// The request that is loaded now: another one than the original after a redirect.
        public var currentHTTPRequest: HTTPRequest? { currentRequest?.httpRequest }

        /// The response; nil while there is none, and where it is not one of HTTP.
        public var httpResponse: HTTPResponse? { (response as? HTTPURLResponse)?.httpResponse }
    }
#endif
