import Foundation
import LoadingKitPrimitives

/// As whom a session's interrupted downloads and uploads go on, whose URLs named the user. Their resume data names neither
/// user nor password; it has a word that means something to this session alone.
final class NamedUsers: Sendable {
    /// So many are remembered; the oldest are forgotten first, and what goes on as one of them names no user.
    static let maximum = 100

    private struct Entry {
        let word: String
        /// Where the user is one: resume data may have been changed.
        let origin: [String]
        let user: String?
        let password: String?
    }

    private let entries = Guarded<[Entry]>([])

    /// The word for a URL's user; nil where it names none.
    func word(for url: URL) -> String? {
        let (user, password) = (url.user(percentEncoded: true), url.password(percentEncoded: true))
        guard user?.isEmpty == false || password != nil else { return nil }
        let origin = Self.origin(url)
        return entries.withLock { entries in
            if let known = entries.first(where: { $0.origin == origin && $0.user == user && $0.password == password }) {
                return known.word
            }
            let word = UUID().uuidString
            entries.append(Entry(word: word, origin: origin, user: user, password: password))
            if entries.count > Self.maximum { entries.removeFirst() }
            return word
        }
    }

    /// A URL with the user that a word is for.
    func name(_ word: String?, in url: URL) -> URL {
        guard let word else { return url }
        let origin = Self.origin(url)
        guard let entry = entries.withLock({ $0.first { $0.word == word && $0.origin == origin } }) else { return url }
        return url.withCredentials(user: entry.user, password: entry.password)
    }

    func forget() { entries.withLock { $0 = [] } }

    private static func origin(_ url: URL) -> [String] {
        [url.scheme?.lowercased() ?? "", url.host?.lowercased() ?? "", url.port.map { "\($0)" } ?? ""]
    }
}
