import Foundation
@_spi(LoadingKitPlugins) import LoadingKitCore
import LoadingKitHTTP1

/// The content that is sent after a request's head.
package enum RequestBody {
    case none
    case data(Data)
    /// A stream, and its length if the request states it.
    case stream(BodyStreamReader, length: UInt64?)
    case file(BodyFile)

    /// Bodies with more bytes wait for `100 Continue`, so that a server can refuse them first (RFC 9110 §10.1.1).
    static let expectContinueThreshold = 1 << 20

    /// The longest wait for `100 Continue`, in seconds. The body is sent after it.
    static let continueTimeout = 1.0

    package init(_ request: URLRequest) {
        if let data = request.httpBody {
            self = .data(data)
        } else if let stream = request.httpBodyStream {
            self = .stream(BodyStreamReader(stream), length: request.statedLength)
        } else if let file = request.bodyFile {
            self = .file(file)
        } else {
            self = .none
        }
    }

    static func comes(with method: String) -> Bool { method == "POST" || method == "PUT" || method == "PATCH" }

    /// An empty body is announced by `Content-Length: 0` if the method normally has a body (RFC 9110 §8.6).
    func framing(method: String) -> RequestBodyFraming {
        switch self {
        case .none: Self.comes(with: method) ? .length(0) : .none
        case .data(let data): .length(UInt64(data.count))
        case .stream(_, let length?): .length(length)
        case .stream(_, nil): .chunked
        case .file(let file): file.size.map { .length(UInt64(clamping: $0)) } ?? .chunked
        }
    }

    /// In bytes; -1 if it is unknown.
    package var expectedCount: Int64 {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .stream(_, let length): length.map { Int64(clamping: $0) } ?? -1
        case .file(let file): file.size ?? -1
        }
    }

    var waitsForContinue: Bool { expectedCount < 0 || expectedCount > Self.expectContinueThreshold }

    /// The source of bytes that are not in memory.
    package var source: (any BodySource)? {
        switch self {
        case .none, .data: nil
        case .stream(let reader, _): reader
        case .file(let file): BodyFileReader(file)
        }
    }

    /// Nil for a stream or a file, whose bytes are unknown before they are sent.
    package var data: Data? {
        switch self {
        case .none: Data()
        case .data(let data): data
        case .stream, .file: nil
        }
    }

    package func abandon() { if case .stream(let reader, _) = self { reader.abandon() } }

    /// The body with another stream in place of one that was partly read.
    func with(_ stream: InputStream) -> RequestBody {
        guard case .stream(_, let length) = self else { return self }
        return .stream(BodyStreamReader(stream), length: length)
    }

    /// Whether the body can be sent again without another stream from the program. Nothing was read of a stream that
    /// waits for `100 Continue`, or is withheld for a step of authentication.
    var isReplayable: Bool { if case .stream(let reader, _) = self { reader.isUnread } else { true } }

    /// Whether another load of the request can send the body: nothing was read of the request's stream.
    func canBeSentAnew(with request: URLRequest) -> Bool {
        if case .stream(let reader, _) = self { reader.isUnread && reader.reads(request.httpBodyStream) } else { true }
    }
}

@_spi(LoadingKitPlugins) extension BodyLength {
    package init(of body: RequestBody) { self.init(stated: body.expectedCount >= 0 ? body.expectedCount : nil) }
}
