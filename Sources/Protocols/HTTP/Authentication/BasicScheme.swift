import Foundation
import LoadingKitCore

/// `Basic`: user name and password, in UTF-8 whatever charset the challenge names (RFC 7617).
struct BasicScheme: HTTPAuthenticationScheme {
    static let name = "Basic"
    static let authenticationMethod = NSURLAuthenticationMethodHTTPBasic

    let realm: String?
    let strength = 10

    init?(_ challenge: HTTPAuthenticationChallenge) { realm = challenge["realm"] }

    /// Nil if the server would read another name or password: a colon ends the name, and neither may contain control
    /// characters (RFC 7617 §2).
    func authorization(for request: HTTPAuthenticationRequest, with credential: URLCredential) -> String? {
        guard let user = credential.user, let password = credential.password else { return nil }
        guard !user.utf8.contains(UInt8(ascii: ":")), !user.hasControlCharacters, !password.hasControlCharacters else {
            return nil
        }
        return Self.value(user, password)
    }

    static func value(_ user: String, _ password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    func advance(after challenge: HTTPAuthenticationChallenge) -> Bool { false }

    /// The path's folder and all folders below it (RFC 7617 §2.2).
    func paths(around path: String) -> [String] {
        let end = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        return [String(path[..<end])]
    }
}

extension String {
    var hasControlCharacters: Bool { utf8.contains { $0 < 0x20 || $0 == 0x7f } }
}
