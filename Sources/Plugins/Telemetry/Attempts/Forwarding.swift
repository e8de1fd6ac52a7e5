#if Telemetry
    import Foundation
    import LoadingKit

    /// Makes attempts with LoadingKit's handlers; no other code depends on them.
    enum Forwarding {
        /// Forwards a request, up to its response's head. A redirect is returned as a response.
        static func load(_ request: URLRequest, of load: LoadContext) async throws -> LoadedResponse {
            try await load.next.load(request, redirects: .returned)
        }

        /// Passes the response and its body to the program, or to the interceptor before this one. A redirect is
        /// followed, which ends the load.
        static func deliver(_ loaded: LoadedResponse, to load: LoadContext) async throws {
            try await load.receive(loaded)
        }

        /// The reason for a load's early end.
        enum Ending {
            /// The session loads another request for the task.
            case redirect
            case failure(any Error)
        }

        /// - Parameter isRedirect: whether there was a redirect response.
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
