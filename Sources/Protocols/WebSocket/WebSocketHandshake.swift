import CLoadingKitOpenSSL
import CLoadingKitOpenSSLStart
// The fields of a handshake are part of this module's interface.
@_exported import LoadingKitPrimitives

/// A client's request for a WebSocket connection, and whether a response grants it (RFC 6455 §4.1, RFC 8441 §5).
public struct WebSocketHandshake: Sendable {
    /// The result of the negotiation.
    public struct Agreement: Sendable, Hashable {
        /// The subprotocol that the server chose from those offered; nil if it chose none.
        public var subprotocol: String?
        /// The compression of messages; nil if they are not compressed.
        public var deflate: PermessageDeflate?
    }

    /// The offered subprotocols, the preferred first.
    public let subprotocols: [String]
    private let key: String

    /// A handshake with a new key.
    public init(subprotocols: [String] = []) {
        self.subprotocols = subprotocols
        key = Self.makeKey()
    }

    /// The fields of a request in any version of HTTP. A key that is among them already is not the handshake's.
    public func addFields(to fields: inout HTTPFields) {
        fields.remove(.secWebSocketKey)
        fields.set(.secWebSocketVersion, "13")
        fields.set(.secWebSocketExtensions, PermessageDeflate.offer)
        if !subprotocols.isEmpty { fields.set(.secWebSocketProtocol, subprotocols.joined(separator: ", ")) }
    }

    /// Adds the fields that HTTP/1.1 requires in addition.
    public func addUpgradeFields(to fields: inout HTTPFields) {
        fields.set(.connection, "Upgrade")
        fields.set(.upgrade, "websocket")
        fields.set(.secWebSocketKey, key)
    }

    /// The agreement in a response with status 101.
    public func agreement(upgrade fields: HTTPFields) throws(WebSocketError) -> Agreement {
        guard Self.has("websocket", fields.values(of: .upgrade)), Self.has("upgrade", fields.values(of: .connection))
        else { throw WebSocketError(.missingUpgrade) }
        guard fields.values(of: .secWebSocketAccept) == [Self.accept(key)] else { throw WebSocketError(.wrongAccept) }
        return try agreement(fields)
    }

    /// The agreement in a successful response to extended CONNECT.
    public func agreement(_ fields: HTTPFields) throws(WebSocketError) -> Agreement {
        let chosen = fields.values(of: .secWebSocketProtocol)
        if let name = chosen.first, chosen.count > 1 || !subprotocols.contains(name) {
            throw WebSocketError(.unofferedProtocol(chosen.joined(separator: ", ")))
        }
        return Agreement(
            subprotocol: chosen.first,
            deflate: try PermessageDeflate(response: fields.values(of: .secWebSocketExtensions)))
    }

    /// The server's answer to a client's key.
    public static func accept(_ key: String) -> String {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        guard EVP_Digest(text, text.count, &digest, &count, EVP_sha1(), nil) == 1 else { return "" }
        return base64(digest.prefix(Int(count)))
    }

    private static func makeKey() -> String {
        var generator = SystemRandomNumberGenerator()
        return base64((0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }[...])
    }

    private static func base64(_ bytes: ArraySlice<UInt8>) -> String {
        lk_openssl_start()
        let bytes = Array(bytes)
        var text = [UInt8](repeating: 0, count: bytes.count * 2 + 4)
        let count = EVP_EncodeBlock(&text, bytes, Int32(clamping: bytes.count))
        return String(decoding: text.prefix(Int(max(0, count))), as: UTF8.self)
    }

    /// Whether a token is in a list, case-insensitively.
    private static func has(_ token: String, _ values: [String]) -> Bool {
        values.contains { value in
            value.split(separator: ",").contains { element in
                String(decoding: ASCII.trimmingSpaces(Array(element.utf8)), as: UTF8.self).lowercased() == token
            }
        }
    }
}
