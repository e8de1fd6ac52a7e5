#if Telemetry
    import Foundation
    import LoadingKit

    /// How an attempt is made with LoadingKit's handlers: the only place that knows.
    enum Forwarding {
        /// Forwards a request, up to its response's head. Redirects are responses.
        static func load(_ request: URLRequest, of load: LoadContext) async throws -> LoadedResponse {
            try await load.next.load(request, redirects: .returned)
        }

        /// Hands the response and its body to the program, or to the interceptor in front. A redirect is followed,
        /// which ends the load.
        static func deliver(_ loaded: LoadedResponse, to load: LoadContext) async throws {
            try await load.receive(loaded)
        }

        /// Why a load has ended early.
        enum Ending {
            /// The session loads another request for the task.
            case redirect
            case failure(any Error)
        }

        /// - Parameter isRedirect: whether there was a response that redirects.
        static func ending(by error: any Error, of load: LoadContext, isRedirect: Bool) async -> Ending {
            guard error is CancellationError else { return .failure(error) }
            return switch await load.ending() {
            case .failed(let error): .failure(error)
            case .cancelled, .sessionInvalidated: .failure(URLError(.cancelled))
            case .replaced, .released, .finished, nil: isRedirect ? .redirect : .failure(error)
            }
        }
    }
#endif
