import Foundation
import LoadingKitCore

extension URL {
    /// The user and the password before the host's name, decoded. Nil without a user.
    var credential: URLCredential? {
        guard let user = user(percentEncoded: false), !user.isEmpty else { return nil }
        return URLCredential(user: user, password: password(percentEncoded: false) ?? "", persistence: .forSession)
    }
}
