import LoadingKitHTTP1
import LoadingKitPrimitives

/// A tunnel by `CONNECT` (RFC 9110 §9.3.6).
struct ConnectHandshake: TunnelHandshake {
    private let destination: TunnelDestination
    private let authorization: String?
    private var codec = ClientConnection()

    /// - Parameter authorization: the value of `Proxy-Authorization`.
    init(_ destination: TunnelDestination, authorization: String?) {
        self.destination = destination
        self.authorization = authorization
    }

    mutating func begin() throws(ProxyError.Cause) -> [UInt8] {
        var fields = HTTPFields()
        fields.append(.host, destination.authority)
        fields.append(.userAgent, RequestFields.userAgent)
        if let authorization { fields.append(.proxyAuthorization, authorization) }
        var bytes: [UInt8] = []
        do throws(HTTP1Error) {
            try codec.sendRequest(
                method: "CONNECT", target: destination.authority, fields: fields, framing: .none, into: &bytes)
        } catch {
            throw .unusableName
        }
        return bytes
    }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(ProxyError.Cause) -> TunnelStep {
        var position = 0
        while let event = try next(bytes, &position) {
            switch event {
            case .head(let head, _) where !(200..<300).contains(head.status):
                throw head.status == 407 ? .authentication : .status(head.status, head.reason)
            case .end:
                guard position == bytes.count else { throw .malformed("bytes after its answer") }
                return .established
            case .head, .interim, .body, .trailers: break
            }
        }
        return .needsMore
    }

    private mutating func next(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(ProxyError.Cause) -> ResponseParser.Event? {
        do throws(HTTP1Error) { return try codec.next(bytes, &position) } catch { throw .malformed("\(error)") }
    }
}
