import Foundation

/// The user of a request is the one that its URL names. Requests that belong to it carry the same, and find it here.
extension URL {
    /// Without the user name and password that may stand before the host.
    package var withoutCredentials: URL {
        guard user != nil || password != nil else { return absoluteURL }
        return withCredentials(of: nil)
    }

    /// As the user that another URL names; nobody where it names none.
    package func withCredentials(of other: URL?) -> URL {
        withCredentials(user: other?.user(percentEncoded: true), password: other?.password(percentEncoded: true))
    }

    /// - Parameters:
    ///   - user: percent-encoded; nil for none.
    ///   - password: likewise.
    func withCredentials(user: String?, password: String?) -> URL {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return absoluteURL }
        parts.percentEncodedUser = user
        parts.percentEncodedPassword = password
        return parts.url ?? absoluteURL
    }
}
