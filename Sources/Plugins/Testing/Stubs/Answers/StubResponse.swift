import Foundation
import LoadingKit

/// What a stub answers: a response, a redirect, or a fault.
///
/// `Content-Length` is added where the length is known and the fields have neither that nor `Transfer-Encoding`. A
/// response to `HEAD`, and one with status 204 or 304, has no body. Bodies are as the program gets them: a
/// `Content-Encoding` is told and not decoded, as LoadingKit decodes what its own HTTP handler receives.
public struct StubResponse: Sendable {
    /// What comes behind the head.
    public enum Body: Sendable {
        /// No byte.
        case none
        /// Bytes that are handed over at once.
        case data(Data)
        /// Pieces that are handed over one after the other, each delivered by itself.
        case pieces([Data])
        /// A file's bytes, read in pieces of 256 KiB when the request comes.
        case file(URL)
        /// Pieces as they come. An error that the stream throws fails the load.
        case stream(@Sendable () -> AsyncThrowingStream<Data, any Error>)
    }

    /// What is to be done.
    enum Action: Sendable {
        case respond
        /// The request goes to the handlers behind the stubs.
        case passOn
        case fail(any Error)
        /// Another response takes the place of this one.
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
    /// The time before each piece of the body, the first included. Default none.
    public var delayBetweenPieces = Duration.zero
    /// What goes wrong; nil for nothing.
    public var fault: StubFault?
    var action = Action.respond

    /// A response with these fields and this body.
    public init(_ status: Int = 200, fields: KeyValuePairs<String, String> = [:], body: Body = .none) {
        self.status = status
        self.fields = fields.map { NamedValue(name: $0.key, value: $0.value) }
        self.body = body
    }

    // MARK: Usual ones

    /// A status without a body.
    public static func status(_ status: Int, fields: KeyValuePairs<String, String> = [:]) -> StubResponse {
        StubResponse(status, fields: fields)
    }

    /// Bytes.
    public static func data(
        _ data: Data, type: String = "application/octet-stream", status: Int = 200
    ) -> StubResponse {
        StubResponse(status, fields: ["Content-Type": type], body: .data(data))
    }

    /// Text in UTF-8.
    public static func text(
        _ text: String, type: String = "text/plain; charset=utf-8", status: Int = 200
    ) -> StubResponse {
        .data(Data(text.utf8), type: type, status: status)
    }

    /// A JSON value.
    public static func json(_ value: JSONValue, status: Int = 200) -> StubResponse {
        .text(value.text(), type: "application/json", status: status)
    }

    /// A value as JSON. A value that cannot be encoded fails the load.
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

    /// A file's bytes.
    ///
    /// - Parameter type: nil for none: no `Content-Type` is sent.
    public static func file(_ url: URL, type: String? = nil, status: Int = 200) -> StubResponse {
        var response = StubResponse(status, body: .file(url))
        if let type { response.fields = [NamedValue(name: "Content-Type", value: type)] }
        return response
    }

    /// Pieces, each delivered by itself.
    ///
    /// - Parameter delay: the time before each of them, by the stub set's clock.
    public static func pieces(
        _ pieces: [Data], type: String = "application/octet-stream", delay: Duration = .zero
    ) -> StubResponse {
        var response = StubResponse(fields: ["Content-Type": type], body: .pieces(pieces))
        response.delayBetweenPieces = delay
        return response
    }

    /// A body that comes so many bytes at a time, with a time before each: a slow server.
    public static func slow(
        _ data: Data, bytes: Int, every delay: Duration, type: String = "application/octet-stream"
    ) -> StubResponse {
        let size = max(bytes, 1)
        let pieces = stride(from: 0, to: data.count, by: size).map { start in
            Data(data.dropFirst(start).prefix(size))
        }
        var response = StubResponse.pieces(pieces, type: type, delay: delay)
        response.fields.append(NamedValue(name: "Content-Length", value: "\(data.count)"))
        return response
    }

    /// A redirect, which the session follows as it follows a server's: the delegate is asked, and 301, 302 and 303 turn
    /// a POST into a GET. At the 21st the task fails with `URLError.httpTooManyRedirects`.
    ///
    /// - Parameter location: may be relative to the request's URL.
    public static func redirect(to location: String, status: Int = 302) -> StubResponse {
        StubResponse(status, fields: ["Location": location])
    }

    /// A fault instead of a response; for ``StubFault/truncatedBody(after:)`` set ``fault`` of a response with a body.
    public static func fault(_ fault: StubFault) -> StubResponse {
        var response = StubResponse()
        response.fault = fault
        return response
    }

    /// The load fails with this error, which the program gets as it is.
    public static func failure(_ error: any Error) -> StubResponse {
        var response = StubResponse()
        response.action = .fail(error)
        return response
    }

    /// The request goes to the handlers behind the stubs: to the network. It is recorded all the same.
    public static var passOn: StubResponse {
        var response = StubResponse()
        response.action = .passOn
        return response
    }

    /// What a closure makes of the request. An error that it throws fails the load, as it is.
    public static func computed(
        _ respond: @escaping @Sendable (ReceivedRequest) async throws -> StubResponse
    ) -> StubResponse {
        var response = StubResponse()
        response.action = .compute(respond)
        return response
    }

    // MARK: Changes

    /// With one more field.
    public func adding(_ name: String, _ value: String) -> StubResponse {
        var response = self
        response.fields.append(NamedValue(name: name, value: value))
        return response
    }

    /// With a time before the head.
    public func delayed(_ delay: Duration) -> StubResponse {
        var response = self
        response.delay = delay
        return response
    }

    /// With a fault, such as an end of the body before its time.
    public func failing(_ fault: StubFault) -> StubResponse {
        var response = self
        response.fault = fault
        return response
    }
}
