#if Telemetry
    import Foundation
    @_spi(LoadingKitPlugins) import LoadingKit
    import Tracing

    /// The attributes of a request before it is sent.
    struct RequestFacts: Sendable {
        /// The replacement of unknown methods.
        static let other = "_OTHER"

        let method: String
        /// The method as it is sent, where the attributes replace it.
        let originalMethod: String?
        let scheme: String
        let serverAddress: String
        let serverPort: Int
        let url: String
        let template: String?

        /// Nil for a request that is not an HTTP request, or has no host.
        init?(_ request: URLRequest, _ options: TelemetryOptions, _ redaction: URLRedaction) {
            guard let url = request.url, let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
                let host = url.canonicalHost, !host.isEmpty
            else { return nil }
            let sent = request.httpMethod ?? "GET"
            let isKnown = options.knownMethods.contains(sent)
            method = isKnown ? sent : Self.other
            originalMethod = isKnown ? nil : sent
            self.scheme = scheme
            let isIPv6 = host.hasPrefix("[") && host.hasSuffix("]")
            serverAddress = isIPv6 ? String(host.dropFirst().dropLast()) : host
            serverPort = url.port ?? (scheme == "https" ? 443 : 80)
            self.url = redaction.text(of: url)
            template = options.urlTemplate?(request)
        }

        /// `GET /users/{id}`, or only the method. An unknown method is `HTTP`.
        var spanName: String {
            let method = originalMethod == nil ? method : "HTTP"
            return template.map { "\(method) \($0)" } ?? method
        }

        func attributes(resendCount: Int) -> SpanAttributes {
            var attributes: SpanAttributes = [:]
            attributes["http.request.method"] = method
            attributes["http.request.method_original"] = originalMethod
            attributes["server.address"] = serverAddress
            attributes["server.port"] = serverPort
            attributes["url.full"] = url
            attributes["url.scheme"] = scheme
            attributes["url.template"] = template
            if resendCount > 0 { attributes["http.request.resend_count"] = resendCount }
            return attributes
        }
    }
#endif
