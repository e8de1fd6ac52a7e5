import Foundation
import LoadingKit

/// A stub's answer: a response, a redirect, or a fault.
///
/// `Content-Length` is added where the length is known and the fields contain neither it nor `Transfer-Encoding`. A
/// response to `HEAD`, and one with status 204 or 304, has no body. Bodies are in the form that the program gets: the
/// response may have a `Content-Encoding`, but is not decoded, because LoadingKit decodes only bodies that its own HTTP
/// handler receives.
public struct StubResponse: Sendable {
    /// The content of the response after the head.
    public enum Body: Sendable {
        /// No bytes.
        case none
        /// Bytes that are delivered at once.
        case data(Data)
        /// Pieces that are delivered in sequence, each separately.
        case pieces([Data])
        /// A file's bytes, read in pieces of 256 KiB when the request arrives.
        case file(URL)
        /// Pieces as they arrive. An error that the stream throws fails the load.
        case stream(@Sendable () -> AsyncThrowingStream<Data, any Error>)
    }

    /// The action for a request.
    enum Action: Sendable {
        case respond
        /// The request is forwarded to the handlers after the stubs.
        case passOn
        case fail(any Error)
        /// Another response replaces this one.
        case compute(@Sendable (ReceivedRequest) async throws -> StubResponse)
    }

    /// The status code. Default 200.
    public var status: Int
    /// The fields of the head, in order. Names may repeat.
    public var fields: [NamedValue]
    /// The body.
    public var body: Body
    /// The time before the head, by the stub set's clock. Default none.
    public var delay = Duration.zero
    /// The time before each piece of the body, including the first. Default none.
    public var delayBetweenPieces = Duration.zero
    /// The fault; nil for none.
    public var fault: StubFault?
    var action = Action.respond

    /// Makes a response with these fields and this body.
    public init(_ status: Int = 200, fields: KeyValuePairs<String, String> = [:], body: Body = .none) {
        self.status = status
        self.fields = fields.map { NamedValue(name: $0.key, value: $0.value) }
        self.body = body
    }

    private init(_ action: Action) {
        self.init()
        self.action = action
    }

    // MARK: Common responses

    /// A response without a body.
    public static func status(_ status: Int, fields: KeyValuePairs<String, String> = [:]) -> StubResponse {
        StubResponse(status, fields: fields)
    }

    /// A response with bytes.
    public static func data(
        _ data: Data, type: String = "application/octet-stream", status: Int = 200
    ) -> StubResponse {
        StubResponse(status, fields: ["Content-Type": type], body: .data(data))
    }

    /// A response with text in UTF-8.
    public static func text(
        _ text: String, type: String = "text/plain; charset=utf-8", status: Int = 200
    ) -> StubResponse {
        .data(Data(text.utf8), type: type, status: status)
    }

    /// A response with a JSON value.
    public static func json(_ value: JSONValue, status: Int = 200) -> StubResponse {
        .text(value.text(), type: "application/json", status: status)
    }

    /// A response with a value as JSON. A value that cannot be encoded fails the load.
    @_disfavoredOverload
    public static func json(
        _ value: some Encodable & Sendable, status: Int = 200, encoder: JSONEncoder = JSONEncoder()
    ) -> StubResponse {
        do {
            return .data(try encoder.encode(value), type: "application/json", status: status)
        } catch {
            return .failure(error)
        }
    }

    /// A response with a file's bytes.
    ///
    /// - Parameter type: the `Content-Type`; nil: none is sent.
    public static func file(_ url: URL, type: String? = nil, status: Int = 200) -> StubResponse {
        let response = StubResponse(status, body: .file(url))
        return type.map { response.adding("Content-Type", $0) } ?? response
    }

    /// A response with pieces, each delivered separately.
    ///
    /// - Parameter delay: the time before each of them, by the stub set's clock.
    public static func pieces(
        _ pieces: [Data], type: String = "application/octet-stream", delay: Duration = .zero
    ) -> StubResponse {
        var response = StubResponse(fields: ["Content-Type": type], body: .pieces(pieces))
        response.delayBetweenPieces = delay
        return response
    }

    /// A body that arrives in pieces of `bytes` bytes, with a delay before each: a slow server.
    public static func slow(
        _ data: Data, bytes: Int, every delay: Duration, type: String = "application/octet-stream"
    ) -> StubResponse {
        let size = max(bytes, 1)
        let pieces = stride(from: 0, to: data.count, by: size).map { start in
            Data(data.dropFirst(start).prefix(size))
        }
        return .pieces(pieces, type: type, delay: delay).adding("Content-Length", "\(data.count)")
    }

    /// A redirect, which the session follows like a server's redirect: the delegate decides, and 301, 302 and 303 turn
    /// a POST into a GET. At the 21st redirect the task fails with `URLError.httpTooManyRedirects`.
    ///
    /// - Parameter location: the target, which may be relative to the request's URL.
    public static func redirect(to location: String, status: Int = 302) -> StubResponse {
        StubResponse(status, fields: ["Location": location])
    }

    /// A fault instead of a response; for ``StubFault/truncatedBody(after:)`` set ``fault`` of a response with a body.
    public static func fault(_ fault: StubFault) -> StubResponse { StubResponse().failing(fault) }

    /// The load fails with this error, which the program gets unchanged.
    public static func failure(_ error: any Error) -> StubResponse { StubResponse(.fail(error)) }

    /// The request is forwarded to the handlers after the stubs, and thus to the network. It is recorded all the same.
    public static var passOn: StubResponse { StubResponse(.passOn) }

    /// A response that a closure makes for the request. An error that it throws fails the load, unchanged.
    public static func computed(
        _ respond: @escaping @Sendable (ReceivedRequest) async throws -> StubResponse
    ) -> StubResponse {
        StubResponse(.compute(respond))
    }

    // MARK: Changes

    /// The same response with one more field.
    public func adding(_ name: String, _ value: String) -> StubResponse {
        var response = self
        response.fields.append(NamedValue(name: name, value: value))
        return response
    }

    /// The same response with a delay before the head.
    public func delayed(_ delay: Duration) -> StubResponse {
        var response = self
        response.delay = delay
        return response
    }

    /// The same response with a fault, such as a premature end of the body.
    public func failing(_ fault: StubFault) -> StubResponse {
        var response = self
        response.fault = fault
        return response
    }
}
