import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives

extension HTTPURLResponse {
    /// - Parameter isCoded: whether the body will be decoded. The expected length is unknown then, as in Apple's
    ///   implementation: the announced length is that of the coded bytes.
    convenience init(_ head: ResponseHead, to request: URLRequest, isCoded: Bool = false) {
        self.init(
            url: request.url ?? URL(fileURLWithPath: "/"), statusCode: head.status,
            httpVersion: head.version.name, fields: head.fields,
            expectedContentLength: isCoded ? -1 : head.fields.announcedLength)
    }
}

extension HTTPFields {
    /// The length in `Content-Length`, or in the first of several equal ones; -1 if there is none, or if a transfer
    /// coding frames the body in its place (RFC 9112 §6.3).
    fileprivate var announcedLength: Int64 {
        let framing = framing
        if framing.hasTransferEncoding { return -1 }
        switch framing.length {
        case .absent: return -1
        case .number(let number): return Int64(exactly: number) ?? -1
        case .unclear:
            let first = self[.contentLength]?.prefix { $0 != "," }
            return first.flatMap { HTTPURLResponse.contentLength($0) } ?? -1
        }
    }
}

extension HTTPVersion {
    /// The version's name for users. No string is allocated.
    fileprivate var name: String {
        switch (major, minor) {
        case (2, _): "HTTP/2"
        case (_, 0): "HTTP/1.0"
        case _: "HTTP/1.1"
        }
    }
}
