import Foundation

/// What Foundation's `URLError` lacks on Linux of Apple's.
extension URLError {
    /// Why no network could be used.
    public enum NetworkUnavailableReason: Int, Sendable {
        /// There are cellular networks alone, and the request or its session does not allow them.
        case cellular = 0
        /// There are networks alone whose use costs money, and these are not allowed.
        case expensive = 1
        /// There are networks alone on which the user wants little traffic. No error on Linux has this reason.
        case constrained = 2
        /// There are networks alone with very little capacity. No error on Linux has this reason.
        case ultraConstrained = 3
    }

    /// Why a background session's task was cancelled.
    public enum BackgroundTaskCancelledReason: Int, Sendable {
        /// A person has ended the program. No error on Linux has this reason: transfers go on without their program.
        case userForceQuitApplication = 0
        /// The system does not perform background transfers for the program. No error on Linux has this reason.
        case backgroundUpdatesDisabled = 1
        /// The system lacks what it needs for the transfer. No error on Linux has this reason: a transfer waits then, or fails
        /// with the error that says what is lacking.
        case insufficientSystemResources = 2
    }

    /// What a download goes on from that has failed (``URLSession/downloadTask(withResumeData:)``); nil where it cannot go on.
    public var downloadTaskResumeData: Data? { userInfo[NSURLSessionDownloadTaskResumeData] as? Data }

    /// Why no network could be used; nil for other errors.
    public var networkUnavailableReason: NetworkUnavailableReason? {
        (userInfo[NSURLErrorNetworkUnavailableReasonKey] as? Int).flatMap(NetworkUnavailableReason.init)
    }

    /// Why a background session's task was cancelled; nil for other errors, and for a task that the program has cancelled.
    public var backgroundTaskCancelledReason: BackgroundTaskCancelledReason? {
        (userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? Int).flatMap(BackgroundTaskCancelledReason.init)
    }

    /// The server's certificates that were not trusted, where a handler of the program's has put them into the error. Nil in errors
    /// of the library, whose underlying error says which certificate was not trusted, and why.
    public var failureURLPeerTrust: ServerTrust? { userInfo[NSURLErrorFailingURLPeerTrustErrorKey] as? ServerTrust }
}

/// The key of ``Foundation/URLError/networkUnavailableReason`` in an error's user info: a number.
public let NSURLErrorNetworkUnavailableReasonKey: String = "NSURLErrorNetworkUnavailableReasonKey"
