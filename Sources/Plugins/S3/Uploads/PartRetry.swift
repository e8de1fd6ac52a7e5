import Foundation

/// Decides whether a failed part is sent again, and after which pause. Pure.
enum PartRetry {
    /// Seconds; nil: the part is not sent again.
    ///
    /// - Parameters:
    ///   - attempt: the number of times that the part was sent.
    ///   - random: from 0 to 1, so that parts are not all retried at the same time.
    static func pause(after error: any Error, attempt: Int, of attempts: Int, random: Double) -> TimeInterval? {
        guard attempt < attempts, mayRepeat(error) else { return nil }
        let backoff = min(20, 0.2 * Double(1 << min(attempt, 10))) * min(max(random, 0), 1)
        let asked = (error as? S3Error)?.retryAfter ?? 0
        return max(backoff, min(asked, 30))
    }

    /// The result of `body`, which is called again as long as the decision requires a retry.
    static func repeating<Value: Sendable>(
        _ attempts: Int, _ clock: S3Clock, _ body: () async throws -> Value
    ) async throws -> Value {
        var attempt = 1
        while true {
            do {
                return try await body()
            } catch {
                try Task.checkCancellation()
                let random = Double.random(in: 0...1)
                guard let pause = pause(after: error, attempt: attempt, of: attempts, random: random) else {
                    throw error
                }
                try await clock.sleep(pause)
                attempt += 1
            }
        }
    }

    /// Codes of temporary failures: a connection that was too slow, a part that was damaged during the transfer, a
    /// conflict with another request, and a server that failed after it had sent status 200, to a completion.
    private static let temporaryCodes: Set<String> = [
        "RequestTimeout", "BadDigest", "XAmzContentSHA256Mismatch", "OperationAborted", "InternalError",
    ]

    private static func mayRepeat(_ error: any Error) -> Bool {
        switch error {
        case let error as S3Error:
            switch error.kind {
            case .slowDown, .serverFailure, .clockSkewed, .expiredCredentials: true
            // The source is called again: the key may have been replaced.
            case .badCredentials: error.code == "InvalidAccessKeyId"
            // The client has recorded the region. It could not send the request again, because its stream was already
            // read.
            case .wrongRegion: error.region != nil
            default: temporaryCodes.contains(error.code)
            }
        case let error as URLError:
            [
                .timedOut, .networkConnectionLost, .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed,
                .notConnectedToInternet, .badServerResponse, .secureConnectionFailed,
            ].contains(error.code)
        default: false
        }
    }
}
