import Foundation
import LoadingKit

/// The handler of `zip:` URLs.
///
/// Most programs use ``ArchiveLoader/install(in:)``. This class can also be one of `protocolClasses`, with the default
/// limits, which then apply to all sessions of the process together. The directories of one session are not used for
/// another.
public final class ArchiveHandler: URLProtocolHandler, @unchecked Sendable {  // the state is Sendable
    private static let ofClass = ArchiveState(limits: ArchiveLimits(), isForAllSessions: true)

    private let state: ArchiveState

    init(request: URLRequest, state: ArchiveState) {
        self.state = state
        super.init(request: request, cachedResponse: nil, client: nil)
    }

    /// Makes a handler for a request.
    public required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        state = Self.ofClass
        super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    /// Whether the URL's scheme is `zip`.
    public override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme?.lowercased() == "zip" }

    /// Loads the member, or the directory as JSON (``ArchiveListing``).
    public override func load(_ load: LoadContext) async throws {
        let task = try MemberTask(load.request, state, in: load.sessionIdentity)
        let source = ArchiveSource(next: load.next, request: RangeRequest.base(load.request, task.target.archive))
        var answering = ArchiveLoad(load: load, task: task, source: source)
        try await answering.run()
    }
}

/// The archive and the member that a program requested.
struct MemberTask: Sendable {
    let target: ArchiveURL
    let request: MemberRequest
    let state: ArchiveState
    /// The directory's key in the cache: the archive's URL before any redirect, and the program's fields.
    let key: DirectoryCache.Key
    private let original: URLRequest

    private static let property = "LoadingKitArchives.directory"

    init(
        _ request: URLRequest, _ state: ArchiveState, in session: SessionIdentity
    ) throws(ArchiveError) {
        guard let url = request.url else { throw .invalidURL("there is none") }
        target = try ArchiveURL(url)
        self.request = try MemberRequest(request)
        self.state = state
        original = request
        key =
            URLProtocol.property(forKey: Self.property, in: request) as? DirectoryCache.Key
            ?? DirectoryCache.Key(
                target.archive, RangeRequest.fields(of: request), in: state.isForAllSessions ? session : nil)
    }

    /// The program's request, for the archive to which a range request was redirected. It has the program's fields,
    /// except those that the redirect has removed, such as credentials for another server.
    func request(redirectedTo next: URLRequest) throws(ArchiveError) -> URLRequest {
        guard let archive = next.url, let mutable = (original as NSURLRequest).mutableCopy() as? NSMutableURLRequest,
            let url = ArchiveURL(archive: archive, memberBytes: target.memberBytes).url
        else { throw .invalidURL("its server redirects to what cannot be the URL of an archive") }
        URLProtocol.setProperty(key, forKey: Self.property, in: mutable)
        var request = mutable as URLRequest
        request.url = url
        for name in RangeRequest.fields(of: original).keys where next.value(forHTTPHeaderField: name) == nil {
            request.setValue(nil, forHTTPHeaderField: name)
        }
        return request
    }
}
