import Foundation

extension NSNotification.Name {
    /// The cookies of a storage, the notification's object, have changed. It is posted on the thread that changed them.
    /// Where a session changed them, it is posted on a thread for the program's code.
    public static let NSHTTPCookieManagerCookiesChanged = Notification.Name(
        rawValue: "NSHTTPCookieManagerCookiesChangedNotification")

    /// The accept policy of a storage, the notification's object, has changed. Posted on the thread that changed it.
    public static let NSHTTPCookieManagerAcceptPolicyChanged = Notification.Name(
        rawValue: "NSHTTPCookieManagerAcceptPolicyChangedNotification")
}
