import Foundation
import LoadingKit

/// Answers the requests of one session with its stubs. ``StubSet/install(in:schemes:)`` makes it.
public final class StubHandler: URLProtocolHandler, @unchecked Sendable {  // its stubs are Sendable
    /// The number of times that a computed response may be computed again.
    private static let maximumSteps = 16

    private let stubs: StubSet

    /// Makes a handler for a request.
    public init(_ request: URLRequest, _ stubs: StubSet) {
        self.stubs = stubs
        super.init(request: request, cachedResponse: nil, client: nil)
    }

    /// Makes a handler without stubs: its load fails.
    public required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        stubs = StubSet()
        super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    /// Reads the request's body, and sends the stubs' response.
    public override func load(_ load: LoadContext) async throws {
        let body = try await load.receivedBody(atMost: stubs.options.maximumBodySize)
        let (request, first) = try stubs.answer(ReceivedRequest(load.request, body: body))
        var response = first
        let sender = ResponseSender(load: load, clock: stubs.options.clock)
        var steps = 0
        while case .compute(let compute) = response.action {
            steps += 1
            guard steps <= Self.maximumSteps else {
                throw StubAnswerError(description: "the response of a stub is computed over and over")
            }
            try await sender.wait(response.delay)
            response = try await compute(request)
        }
        try await sender.wait(response.delay)
        switch response.action {
        case .fail(let error): throw error
        case .passOn: try await sender.passOn(request)
        case .respond, .compute: try await sender.respond(to: request, with: response)
        }
    }
}
