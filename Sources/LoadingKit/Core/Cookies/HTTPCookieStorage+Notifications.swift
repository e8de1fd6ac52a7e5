import Foundation

extension NSNotification.Name {
    /// The cookies of a storage, the notification's object, have changed. Posted on the thread that changed them,
    /// and on a thread of its own where a session has.
    public static let NSHTTPCookieManagerCookiesChanged = Notification.Name(
        rawValue: "NSHTTPCookieManagerCookiesChangedNotification")

    /// The accept policy of a storage, the notification's object, has changed. Posted on the thread that changed it.
    public static let NSHTTPCookieManagerAcceptPolicyChanged = Notification.Name(
        rawValue: "NSHTTPCookieManagerAcceptPolicyChangedNotification")
}
