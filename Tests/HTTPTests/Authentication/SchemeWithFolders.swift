import LoadingKit

/// A scheme of a program's own that has the folders it was made with, and answers no challenge.
protocol SchemeWithFolders: HTTPAuthenticationScheme {
    var folders: [String] { get }
}

extension SchemeWithFolders {
    var realm: String? { nil }
    var strength: Int { 1 }

    init?(_ challenge: HTTPAuthenticationChallenge) { nil }

    func authorization(for request: HTTPAuthenticationRequest, with credential: URLCredential) -> String? { nil }

    func advance(after challenge: HTTPAuthenticationChallenge) -> Bool { false }

    func paths(around path: String) -> [String] { folders }
}
