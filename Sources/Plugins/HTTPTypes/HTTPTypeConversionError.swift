#if HTTPTypes
    import Foundation

    /// A request or a response that HTTPTypes or LoadingKit cannot represent.
    ///
    /// Where a request cannot be converted, nothing was sent.
    public enum HTTPTypeConversionError: Error, Sendable, Hashable {
        /// The request has no `:scheme`.
        case missingScheme
        /// The request has no `:authority`.
        case missingAuthority
        /// The request has no `:path`.
        case missingPath
        /// `:scheme` is not the scheme of a URL.
        case invalidScheme(String)
        /// `:authority` is not a host, with or without a port. It must not have a user (RFC 9113 §8.3.1).
        case invalidAuthority(String)
        /// `:path` does not begin with `/` (RFC 9113 §8.3.1).
        case invalidPath(String)
        /// The path `*` of `OPTIONS`, which denotes the server as a whole. No URL can represent it.
        case asteriskForm
        /// `CONNECT`, which requests a tunnel from a proxy. A session does this by itself where necessary.
        case connect
        /// Extended `CONNECT` (RFC 8441) with a `:protocol` other than `websocket`, or with a scheme that has none.
        case unsupportedProtocol(String)
        /// `:protocol` in a request with a method other than `CONNECT`.
        case protocolWithoutConnect(String)
        /// Scheme, authority and path do not form a URL.
        case invalidURL(String)
        /// The response is not an HTTP response: the request had a scheme such as `file` or `data`.
        case notHTTPResponse
        /// The response's status is not from 0 to 999, or it has more fields than `HTTPFields` can hold (65,534).
        case unrepresentableResponse
    }

    extension HTTPTypeConversionError: LocalizedError, CustomStringConvertible {
        /// The reason and the remedy, in plain words.
        public var description: String {
            switch self {
            case .missingScheme: "the HTTPRequest has no scheme: set it, for example to https"
            case .missingAuthority: "the HTTPRequest has no authority: set it to the server's host and port"
            case .missingPath: "the HTTPRequest has no path: set it, for example to /"
            case .invalidScheme(let text): "the HTTPRequest's scheme \(text.debugDescription) is not a URL's"
            case .invalidAuthority(let text):
                "the HTTPRequest's authority \(text.debugDescription) is not a host with or without a port"
            case .invalidPath(let text): "the HTTPRequest's path \(text.debugDescription) does not begin with /"
            case .asteriskForm: "OPTIONS with the path * has no URL: ask for a path instead"
            case .connect: "CONNECT has no URL: set the configuration's proxy instead"
            case .unsupportedProtocol(let name):
                "CONNECT with the protocol \(name.debugDescription) is not supported: only websocket by http or https is"
            case .protocolWithoutConnect(let name):
                "the HTTPRequest has the protocol \(name.debugDescription), which CONNECT alone may have"
            case .invalidURL(let text): "\(text.debugDescription) is not a URL"
            case .notHTTPResponse: "the response is not one of HTTP: load the URLRequest instead"
            case .unrepresentableResponse: "the response's status or number of fields is beyond what HTTPTypes has"
            }
        }

        /// The description.
        public var errorDescription: String? { description }
    }
#endif
