import Foundation
import LoadingKitPrimitives

/// The users of a session's interrupted downloads and uploads whose URLs had user names. Their resume data contains
/// neither user nor password, but an identifier that only this session can resolve.
final class NamedUsers: Sendable {
    /// The largest number of users; the oldest are removed first. A transfer that resumes with a removed user has no
    /// user name.
    static let maximum = 100

    private struct Entry {
        let word: String
        /// The origin of the user: resume data may have been modified.
        let origin: [String]
        let user: String?
        let password: String?
    }

    private let entries = Guarded<[Entry]>([])

    /// The identifier of a URL's user; nil where the URL has none.
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

    /// A URL with the user that an identifier stands for.
    func name(_ word: String?, in url: URL) -> URL {
        guard let word else { return url }
        let origin = Self.origin(url)
        guard let entry = entries.withLock({ $0.first { $0.word == word && $0.origin == origin } }) else { return url }
        return url.withCredentials(user: entry.user, password: entry.password)
    }

    func forget() { entries.withLock { $0 = [] } }

    private static func origin(_ url: URL) -> [String] {
        [url.scheme?.lowercased() ?? "", url.canonicalHost ?? "", url.port.map { "\($0)" } ?? ""]
    }
}
