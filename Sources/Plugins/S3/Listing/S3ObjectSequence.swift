import Foundation
import LoadingKit

extension S3 {
    /// The objects of a bucket in the order of their keys, loaded page by page as needed.
    ///
    /// - Parameters:
    ///   - bucket: its name.
    ///   - prefix: the prefix of the keys. Default "": all.
    ///   - startAfter: a key; the objects after it are listed.
    ///   - pageSize: the number of objects per request, up to 1,000. Default nil: the server's default, usually 1,000.
    public func objects(
        in bucket: String, prefix: String = "", startAfter: String? = nil, pageSize: Int? = nil
    ) -> S3ObjectSequence {
        entries(in: bucket, prefix: prefix, startAfter: startAfter, pageSize: pageSize).compactMap {
            entry -> S3Object? in
            if case .object(let object) = entry { object } else { nil }
        }
    }

    /// The objects of a bucket, where all keys with a common prefix up to a delimiter are one entry.
    ///
    /// - Parameter delimiter: usually `/`: objects below a folder are not listed. Nil: no delimiter.
    public func entries(
        in bucket: String, prefix: String = "", delimiter: String? = nil, startAfter: String? = nil,
        pageSize: Int? = nil
    ) -> S3EntrySequence {
        var query = [CanonicalRequest.QueryItem("encoding-type", "url"), .init("prefix", prefix)]
        if let delimiter { query.append(.init("delimiter", delimiter)) }
        if let startAfter { query.append(.init("start-after", startAfter)) }
        if let pageSize { query.append(.init("max-keys", String(min(max(pageSize, 1), 1000)))) }
        return S3EntrySequence(s3: self, bucket: bucket, query: query, hasPrefixes: delimiter != nil)
    }
}

/// Entries of a bucket as an asynchronous sequence. Each iteration loads the listing again. Throws ``S3Error``,
/// ``S3ListingError``, and the errors of `data(for:)`.
public struct S3EntrySequence: AsyncSequence, Sendable {
    /// An object, or a common prefix.
    public typealias Element = S3ListingEntry

    /// The largest number of bytes in a page; a larger one is refused.
    static let maximumPage = 16 << 20
    /// The largest number of consecutive empty pages. Amazon's pages are seldom empty, for example where many objects
    /// were deleted.
    static let maximumEmptyPages = 100

    let s3: S3
    let bucket: String
    let query: [CanonicalRequest.QueryItem]
    /// Whether there is a delimiter. Without it pages have no prefixes.
    let hasPrefixes: Bool

    /// Starts a listing.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// Returns the entries, and loads the next page when none are left.
    public struct Iterator: AsyncIteratorProtocol {
        private let sequence: S3EntrySequence
        private var entries: ArraySlice<S3ListingEntry> = []
        /// The token of the page to load; nil for the first page.
        private var token: String?
        private var isAtEnd = false
        /// Consecutive empty pages.
        private var emptyPages = 0

        init(sequence: S3EntrySequence) { self.sequence = sequence }

        /// The next entry; nil at the end, and after an error.
        public mutating func next() async throws -> S3ListingEntry? {
            while true {
                if let entry = entries.popFirst() { return entry }
                if isAtEnd { return nil }
                isAtEnd = true
                let page = try await sequence.page(token)
                entries = page.entries[...]
                emptyPages = entries.isEmpty ? emptyPages + 1 : 0
                guard let next = page.next else { continue }
                guard next != token else { throw S3ListingError.repeatedPage }
                guard emptyPages < S3EntrySequence.maximumEmptyPages else {
                    throw S3ListingError.emptyPages(emptyPages)
                }
                (token, isAtEnd) = (next, false)
            }
        }
    }

    private func page(_ token: String?) async throws -> ListPage {
        let query = query + (token.map { [.init("continuation-token", $0)] } ?? [])
        let answer = try await s3.answer("GET", try S3Address(bucket: bucket), query, limit: Self.maximumPage)
        let document: XMLElement
        do { document = try XMLElement.parse(answer.body) } catch { throw S3ListingError.malformed }
        var page = try ListPage(document, bucket: bucket)
        if !hasPrefixes { page.entries.removeAll { if case .prefix = $0 { true } else { false } } }
        return page
    }
}

/// Objects of a bucket as an asynchronous sequence: the entries of an ``S3EntrySequence`` that are objects.
public typealias S3ObjectSequence = AsyncCompactMapSequence<S3EntrySequence, S3Object>
