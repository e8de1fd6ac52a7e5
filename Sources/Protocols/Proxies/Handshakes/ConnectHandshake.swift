import LoadingKitHTTP1
import LoadingKitPrimitives

/// A tunnel by `CONNECT` (RFC 9110 §9.3.6).
package struct ConnectHandshake: TunnelHandshake {
    private let destination: TunnelDestination
    private let userAgent: String
    private let authorization: [UInt8]?
    private var codec = ClientConnection()
    private var answer: ResponseHead?
    /// The bytes received after the answer's head.
    private var bodyCount = 0

    /// The largest part of a refusal's body that is read, in bytes. The framing of its chunks counts, as its extensions
    /// may be longer than the chunks.
    private static let longestBody = 64 * 1024

    /// - Parameters:
    ///   - userAgent: the value of `User-Agent`.
    ///   - authorization: the value of `Proxy-Authorization`.
    package init(_ destination: TunnelDestination, userAgent: String, authorization: [UInt8]?) {
        self.userAgent = userAgent
        self.destination = destination
        self.authorization = authorization
    }

    package mutating func begin() throws(ProxyError.Cause) -> [UInt8] {
        var fields = HTTPFields()
        fields.append(.host, destination.authority)
        fields.append(.userAgent, userAgent)
        if let authorization {
            authorization.withUnsafeBytes { fields.append(.proxyAuthorization, valueBytes: $0) }
        }
        var bytes: [UInt8] = []
        do throws(HTTP1Error) {
            try codec.sendRequest(
                method: "CONNECT", target: destination.authority, fields: fields, framing: .none, into: &bytes)
        } catch {
            throw .unusableName
        }
        return bytes
    }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(ProxyError.Cause) -> TunnelStep {
        var position = 0
        var bodyStart = 0
        while let event = try next(bytes, &position) {
            switch event {
            case .head(let head, let framing):
                answer = head
                bodyStart = position
                if head.status == 407 {
                    guard Self.isShort(framing) else { return challenged(head, keepsConnection: false) }
                } else if !(200..<300).contains(head.status) {
                    throw .status(head.status, head.reason)
                }
            case .end:
                guard let answer else { break }
                if answer.status == 407 {
                    // Older proxies announce the end in a field of their own.
                    let isKept = answer.fields[.proxyConnection]?.lowercased() != "close"
                    let isUsable = isKept && codec.canCarryAnotherRequest && position == bytes.count
                    let isShort = bodyCount + position - bodyStart <= Self.longestBody
                    return challenged(answer, keepsConnection: isUsable && isShort)
                }
                guard position == bytes.count else { throw .malformed("bytes after its answer") }
                return .established(answer.fields)
            case .body, .interim, .trailers: break
            }
        }
        guard let answer else { return .needsMore }
        bodyCount += bytes.count - bodyStart
        return bodyCount > Self.longestBody ? challenged(answer, keepsConnection: false) : .needsMore
    }

    package func connectionDidClose() -> TunnelStep? { answer.map { challenged($0, keepsConnection: false) } }

    package var awaited: String {
        answer == nil ? "its answer to CONNECT" : "the rest of its answer to CONNECT"
    }

    /// Whether reading a refusal's body costs less than opening another connection.
    private static func isShort(_ framing: BodyFraming) -> Bool {
        switch framing {
        case .none, .chunked: true
        case .length(let count): count <= UInt64(longestBody)
        case .untilClose: false
        }
    }

    private func challenged(_ head: ResponseHead, keepsConnection: Bool) -> TunnelStep {
        .challenged(TunnelChallenge(head: head, keepsConnection: keepsConnection))
    }

    private mutating func next(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(ProxyError.Cause) -> ResponseParser.Event? {
        do throws(HTTP1Error) { return try codec.next(bytes, &position) } catch { throw .malformed("\(error)") }
    }
}
