import Foundation
import Logging

/// Writes a session's events to its logger. Confined to the session's event loop.
final class EventLog {
    private let logger: Logger
    private let level: Logger.Level
    /// The URL that a task of the session is loading.
    var currentURL: (_ task: Int) -> URL? = { _ in nil }

    /// Nil where the logger's level excludes all events. A level that changes later has no effect on the session.
    init?(_ logger: Logger, _ session: SessionIdentity) {
        level = logger.logLevel
        guard level <= .info else { return nil }
        var logger = logger
        logger[metadataKey: "session"] = "\(session.number)"
        self.logger = logger
    }

    func takes(_ event: SessionEvent) -> Bool { event.logLevel >= level }

    func write(_ record: SessionEventRecord, _ detail: String) {
        var metadata: Logger.Metadata = [:]
        if record.task != 0 {
            metadata["task"] = "\(record.task)"
            metadata["url"] = currentURL(Int(record.task)).map { "\(ShownURL.withoutSecrets($0))" }
        }
        if record.connection != 0 { metadata["connection"] = "\(record.connection)" }
        switch record.event {
        case .responded(let status), .redirected(let status): metadata["status"] = "\(status)"
        case .taskFailed(let code): metadata["code"] = "\(code)"
        case _: break
        }
        if !detail.isEmpty { metadata["detail"] = "\(detail)" }
        logger.log(
            level: record.event.logLevel, "\(record.event.text)", metadata: metadata, source: "LoadingKit")
    }
}

extension SessionEvent {
    /// The level at which an event is logged, as the page on logging lists it.
    var logLevel: Logger.Level {
        switch self {
        case .taskFailed(Self.cancelled): .debug
        case .taskFailed: .info
        case .taskSucceeded, .retried, .redirected, .challenged, .challengeAnswered, .cookieRefused: .debug
        case .connectionFailed, .connectionOpened, .connectionClosed: .debug
        case .connect(.connectFailed), .connect(.failed): .debug
        case .taskBegan, .loadBegan, .cache, .cookiesSent, .cookieStored, .queued, .requestBegan, .responded: .trace
        case .connect: .trace
        }
    }

    private static let cancelled = Int32(NSURLErrorCancelled)
}
