import Foundation

extension URL {
    /// The text without the password, which must not be displayed.
    var withoutPassword: String {
        guard password(percentEncoded: true) != nil,
            var components = URLComponents(url: self, resolvingAgainstBaseURL: false)
        else { return absoluteString }
        components.password = nil
        return components.string ?? scheme ?? ""
    }
}
