import Foundation

extension URL {
    /// Without the user name and password that may stand before the host.
    var withoutCredentials: URL {
        guard user != nil || password != nil,
            var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return absoluteURL }
        parts.user = nil
        parts.password = nil
        return parts.url ?? absoluteURL
    }
}
