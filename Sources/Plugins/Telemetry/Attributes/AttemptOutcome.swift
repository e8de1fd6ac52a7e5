#if Telemetry
    import Foundation
    import LoadingKit
    import Tracing

    /// The outcome of an attempt.
    enum AttemptOutcome: Sendable {
        /// The complete response was received.
        case response(status: Int?)
        /// The response redirects, and another request is loaded instead.
        case redirect(status: Int?)
        /// The attempt failed, before or after the response's head.
        case failure(any Error, status: Int?)

        var status: Int? {
            switch self {
            case .response(let status), .redirect(let status), .failure(_, let status): status
            }
        }

        /// The attribute `error.type`: the class of a failure, otherwise a status of 400 or more; nil for a success.
        var errorType: String? {
            switch self {
            case .response(let status): status.flatMap { $0 >= 400 ? String($0) : nil }
            case .redirect: nil
            case .failure(let error, _): ErrorType.name(of: error)
            }
        }

        /// For a client's span, statuses of 400 and more are errors. They have no description, because the status gives
        /// the reason.
        var spanStatus: SpanStatus? {
            switch self {
            case .failure(let error, _): SpanStatus(code: .error, message: ErrorType.description(of: error))
            case .response, .redirect: errorType.map { _ in SpanStatus(code: .error) }
            }
        }

        var attributes: SpanAttributes {
            var attributes: SpanAttributes = [:]
            if let status { attributes["http.response.status_code"] = status }
            attributes["error.type"] = errorType
            return attributes
        }
    }
#endif
