import Foundation

/// The members of Apple's `URLError` that Foundation lacks on Linux.
extension URLError {
    /// The reason why no network could be used.
    public enum NetworkUnavailableReason: Int, Sendable {
        /// Only cellular networks are available, and the request or its session does not permit them.
        case cellular = 0
        /// Only networks whose use costs money are available, and these are not permitted.
        case expensive = 1
        /// Only networks on which the user wants little traffic are available. No error on Linux has this reason.
        case constrained = 2
        /// Only networks with very little capacity are available. No error on Linux has this reason.
        case ultraConstrained = 3
    }

    /// The reason why a background session's task was cancelled.
    public enum BackgroundTaskCancelledReason: Int, Sendable {
        /// The user has ended the program. No error on Linux has this reason: transfers continue without their program.
        case userForceQuitApplication = 0
        /// The system does not perform background transfers for the program. No error on Linux has this reason.
        case backgroundUpdatesDisabled = 1
        /// The system lacks resources for the transfer. No error on Linux has this reason: the transfer waits, or fails
        /// with the error for the missing resource.
        case insufficientSystemResources = 2
    }

    /// The data for resuming a failed download (``URLSession/downloadTask(withResumeData:)``); nil where it cannot be
    /// resumed.
    public var downloadTaskResumeData: Data? { userInfo[NSURLSessionDownloadTaskResumeData] as? Data }

    /// The reason why no network could be used; nil for other errors.
    public var networkUnavailableReason: NetworkUnavailableReason? {
        (userInfo[NSURLErrorNetworkUnavailableReasonKey] as? Int).flatMap(NetworkUnavailableReason.init)
    }

    /// The reason why a background session's task was cancelled; nil for other errors, and for a task that the program
    /// has cancelled.
    public var backgroundTaskCancelledReason: BackgroundTaskCancelledReason? {
        (userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? Int).flatMap(BackgroundTaskCancelledReason.init)
    }

    /// The server's untrusted certificates, where a program's handler has added them to the error. Nil in errors of the
    /// library, whose underlying error has the certificate and the reason.
    public var failureURLPeerTrust: ServerTrust? { userInfo[NSURLErrorFailingURLPeerTrustErrorKey] as? ServerTrust }
}

/// The key of `URLError.networkUnavailableReason` in an error's user info: a number.
public let NSURLErrorNetworkUnavailableReasonKey: String = "NSURLErrorNetworkUnavailableReasonKey"
