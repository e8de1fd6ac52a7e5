import Foundation

/// The user of a request is the user in its URL. Requests made for another request have the same user; these functions
/// get and set it.
extension URL {
    /// The URL without the user name and password before the host.
    package var withoutCredentials: URL {
        guard user != nil || password != nil else { return absoluteURL }
        return withCredentials(of: nil)
    }

    /// The URL with the user of another URL; without a user where that has none.
    package func withCredentials(of other: URL?) -> URL {
        withCredentials(user: other?.user(percentEncoded: true), password: other?.password(percentEncoded: true))
    }

    /// - Parameters:
    ///   - user: percent-encoded; nil for none.
    ///   - password: percent-encoded; nil for none.
    func withCredentials(user: String?, password: String?) -> URL {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return absoluteURL }
        parts.percentEncodedUser = user
        parts.percentEncodedPassword = password
        return parts.url ?? absoluteURL
    }
}
