#if Telemetry
    import Foundation
    import LoadingKit
    import Tracing

    /// The attributes of the connection, and of the sizes of bodies.
    struct NetworkFacts: Sendable {
        var protocolName: String?
        var protocolVersion: String?
        var peerAddress: String?
        var peerPort: Int?
        /// The number of bytes; nil where nothing was sent over a network.
        var requestBodySize: Int64?
        /// The number of bytes before content decoding; nil where nothing was received over a network.
        var responseBodySize: Int64?

        init() {}

        /// The facts of the last transaction: those before it were answered with a challenge, or lost.
        init?(_ loaded: LoadedResponse) {
            guard let last = loaded.transactionMetrics.last else { return nil }
            self.init()
            guard last.resourceFetchType != .localCache else { return }
            setProtocol(last.networkProtocolName)
            peerAddress = last.remoteAddress
            peerPort = last.remotePort.flatMap { Int($0) }
            requestBodySize = last.countOfRequestBodyBytesBeforeEncoding
            responseBodySize = last.countOfResponseBodyBytesReceived
            if let response = loaded.response as? HTTPURLResponse, last.request.httpMethod != "HEAD",
                let text = response.value(forHTTPHeaderField: "Content-Length"), let length = Int64(text), length >= 0,
                let received = responseBodySize, received >= length
            {
                // Without HTTP/2's framing.
                responseBodySize = length
            }
        }

        /// Sets name and version from an ALPN identifier such as `http/1.1` or `h2`.
        mutating func setProtocol(_ identifier: String?) {
            guard let identifier = identifier?.lowercased() else { return }
            switch identifier {
            case "h2", "h2c": (protocolName, protocolVersion) = ("http", "2")
            case "h3": (protocolName, protocolVersion) = ("http", "3")
            default:
                let parts = identifier.split(separator: "/", maxSplits: 1)
                protocolName = parts.first.map { String($0) }
                protocolVersion = parts.count == 2 ? String(parts[1]) : nil
            }
        }

        var attributes: SpanAttributes {
            var attributes: SpanAttributes = [:]
            attributes["network.protocol.name"] = protocolName
            attributes["network.protocol.version"] = protocolVersion
            attributes["network.peer.address"] = peerAddress
            attributes["network.peer.port"] = peerAddress == nil ? nil : peerPort
            return attributes
        }
    }
#endif
