#if HTTPTypes
    import Foundation
    import HTTPTypes

    /// The URL of a request's pseudo-header fields. They are checked first: if they were joined without checks, a path
    /// could become part of the host.
    enum RequestURL {
        /// The URL, and the method with which it is loaded.
        static func make(
            _ request: HTTPRequest
        ) throws(HTTPTypeConversionError) -> (url: URL, method: HTTPRequest.Method) {
            var request = request
            try replaceConnect(&request)
            if request.method == .options, request.path == "*" { throw .asteriskForm }
            guard let scheme = request.scheme else { throw .missingScheme }
            guard let authority = request.authority else { throw .missingAuthority }
            guard let path = request.path else { throw .missingPath }
            guard isScheme(scheme) else { throw .invalidScheme(scheme) }
            guard isAuthority(authority) || authority.isEmpty && !isHTTP(scheme) else {
                throw .invalidAuthority(authority)
            }
            guard path.utf8.first == UInt8(ascii: "/") else { throw .invalidPath(path) }
            guard let url = request.url else { throw .invalidURL("\(scheme)://\(authority)\(path)") }
            // For example a port without a host.
            if isHTTP(scheme), url.host?.isEmpty != false { throw .invalidAuthority(authority) }
            return (url, request.method)
        }

        /// Converts a WebSocket's request to a session's form: `GET`, and `ws` or `wss` (RFC 8441 §5).
        private static func replaceConnect(_ request: inout HTTPRequest) throws(HTTPTypeConversionError) {
            switch (request.method, request.extendedConnectProtocol) {
            case (.connect, nil): throw .connect
            case (.connect, "websocket"):
                switch request.scheme?.lowercased() {
                case nil: throw .missingScheme
                case "http", "ws": request.scheme = "ws"
                case "https", "wss": request.scheme = "wss"
                default: throw .unsupportedProtocol("websocket")
                }
                request.method = .get
                request.extendedConnectProtocol = nil
            case (.connect, let name?): throw .unsupportedProtocol(name)
            case (_, let name?): throw .protocolWithoutConnect(name)
            case (_, nil): break
            }
        }

        private static func isHTTP(_ scheme: String) -> Bool {
            ["http", "https", "ws", "wss"].contains(scheme.lowercased())
        }

        /// Whether the text is a valid scheme (RFC 3986 §3.1).
        private static func isScheme(_ text: String) -> Bool {
            guard let first = text.utf8.first, isLetter(first) else { return false }
            return text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
        }

        private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }

        /// Whether the text has no character that ends a URL's host, and no user. `URL` validates the rest.
        private static func isAuthority(_ text: String) -> Bool {
            !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && !"/?#@\\".utf8.contains($0) }
        }
    }
#endif
