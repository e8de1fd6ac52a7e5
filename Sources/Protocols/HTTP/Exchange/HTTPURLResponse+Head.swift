import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives

extension HTTPURLResponse {
    /// - Parameter isCoded: the announced length is that of the coded bytes, so a body's that is decoded is unknown, as
    ///   Apple has it.
    convenience init(_ head: ResponseHead, to request: URLRequest, isCoded: Bool = false) {
        self.init(
            url: request.url ?? URL(fileURLWithPath: "/"), statusCode: head.status,
            httpVersion: head.version.name, fields: head.fields,
            expectedContentLength: isCoded ? -1 : head.fields.announcedLength)
    }
}

extension HTTPFields {
    /// What `Content-Length` says, or the first of several that say the same; -1 where there is none.
    fileprivate var announcedLength: Int64 {
        switch framing.length {
        case .absent: -1
        case .number(let number): Int64(exactly: number) ?? -1
        case .unclear: self[.contentLength].flatMap { Int64($0.prefix { $0 != "," }) } ?? -1
        }
    }
}

extension HTTPVersion {
    /// As users see it; no string is made.
    fileprivate var name: String {
        switch (major, minor) {
        case (2, _): "HTTP/2"
        case (_, 0): "HTTP/1.0"
        case _: "HTTP/1.1"
        }
    }
}
