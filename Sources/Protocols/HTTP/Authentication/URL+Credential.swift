import Foundation
import LoadingKitCore

extension URL {
    /// The user and the password before the host's name, decoded. Nil without a user.
    var credential: URLCredential? {
        guard let user = user(percentEncoded: false), !user.isEmpty else { return nil }
        return URLCredential(user: user, password: password(percentEncoded: false) ?? "", persistence: .forSession)
    }
}

extension URLCredential {
    /// Whether both name the same user with the same password, for however long.
    func isSameLogin(as other: URLCredential) -> Bool { user == other.user && password == other.password }
}
