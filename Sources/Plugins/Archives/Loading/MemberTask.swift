import Foundation
import LoadingKit

/// The archive and the member that a program requested.
struct MemberTask: Sendable {
    let target: ArchiveURL
    let request: MemberRequest
    let state: ArchiveState
    /// The directory's key in the cache: the archive's URL before any redirect, and the program's fields.
    let key: DirectoryCache.Key
    private let original: URLRequest

    private static let property = "LoadingKitArchives.directory"

    init(_ request: URLRequest, _ state: ArchiveState) throws(ArchiveError) {
        guard let url = request.url else { throw .invalidURL("there is none") }
        target = try ArchiveURL(url)
        self.request = try MemberRequest(request)
        self.state = state
        original = request
        key =
            URLProtocol.property(forKey: Self.property, in: request) as? DirectoryCache.Key
            ?? DirectoryCache.Key(target.archive, RangeRequest.fields(of: request))
    }

    /// The program's request, for the archive to which a range request was redirected. It has the program's fields,
    /// except those that the redirect has removed, such as credentials for another server.
    func request(redirectedTo next: URLRequest) throws(ArchiveError) -> URLRequest {
        guard let archive = next.url, let mutable = (original as NSURLRequest).mutableCopy() as? NSMutableURLRequest,
            let url = ArchiveURL(archive: archive, memberBytes: target.memberBytes).url
        else { throw .invalidURL("its server redirects to a URL that cannot be the URL of an archive") }
        URLProtocol.setProperty(key, forKey: Self.property, in: mutable)
        var request = mutable as URLRequest
        request.url = url
        for name in RangeRequest.fields(of: original).keys where next.value(forHTTPHeaderField: name) == nil {
            request.setValue(nil, forHTTPHeaderField: name)
        }
        return request
    }
}
