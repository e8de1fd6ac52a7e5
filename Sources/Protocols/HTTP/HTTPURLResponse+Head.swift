import Foundation
import LoadingKitCore
import LoadingKitHTTP1

extension HTTPURLResponse {
    /// - Parameter isCoded: the announced length is that of the coded bytes, so a body's that is decoded is unknown, as
    ///   Apple has it.
    convenience init(_ head: ResponseHead, to request: URLRequest, isCoded: Bool = false) {
        let length = isCoded ? nil : head.fields[.contentLength].flatMap { Int64($0.prefix { $0 != "," }) }
        self.init(
            url: request.url ?? URL(fileURLWithPath: "/"), statusCode: head.status,
            httpVersion: head.version.name, fields: head.fields,
            expectedContentLength: length ?? -1)
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
