import Foundation
import LoadingKit

/// The handler of `zip:` URLs.
///
/// ``ArchiveLoader/install(in:)`` is what most programs want. As one of `protocolClasses` this class works as well, with the
/// default limits, which are for all sessions of the process together. The directories of one session are for no other.
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

/// What a program asked for.
struct MemberTask: Sendable {
    let target: ArchiveURL
    let request: MemberRequest
    let state: ArchiveState
    /// What the directory is kept under: the archive's URL before any redirect, and the program's fields.
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

    /// What the program asked for, of the archive that a request for a range was redirected to. It has the program's
    /// fields but for those that the redirect has dropped, such as credentials for another server.
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
