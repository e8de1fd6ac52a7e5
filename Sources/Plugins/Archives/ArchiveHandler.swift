import Foundation
import LoadingKit

/// The handler of `zip:` URLs.
///
/// ``ArchiveLoader/install(in:)`` is what most programs want. As one of `protocolClasses` this class works as well, with the
/// default limits, and without a cache: a class has nothing that belongs to one session.
public final class ArchiveHandler: URLProtocolHandler, @unchecked Sendable {  // the state is Sendable
    private let state: ArchiveState

    init(request: URLRequest, state: ArchiveState) {
        self.state = state
        super.init(request: request, cachedResponse: nil, client: nil)
    }

    /// Makes a handler for a request.
    public required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        state = ArchiveState(limits: ArchiveLimits(), cache: nil)
        super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    /// Whether the URL's scheme is `zip`, or the request is what an archive's server has redirected one to.
    public override class func canInit(with request: URLRequest) -> Bool {
        request.url?.scheme?.lowercased() == "zip" || MemberTask.isRedirected(request)
    }

    /// Whether ``canInit(with:)-(URLRequest)`` is true of the task's current request.
    public override class func canInit(with task: URLSessionTask) -> Bool {
        guard let request = task.currentRequest else { return false }
        return canInit(with: request) || MemberTask.of(request) != nil
    }

    /// Loads the member, or the directory as JSON (``ArchiveListing``).
    public override func load(_ load: LoadContext) async throws {
        let task = try MemberTask.of(load.request) ?? MemberTask(load.request, state)
        try await task.run(load)
    }
}

/// Goes on where an archive's server has redirected: the session begins a new load for that, of another scheme.
final class RedirectedArchiveHandler: URLProtocolHandler, @unchecked Sendable {  // stateless
    override class func canInit(with request: URLRequest) -> Bool { MemberTask.isRedirected(request) }

    override class func canInit(with task: URLSessionTask) -> Bool {
        task.currentRequest.flatMap { MemberTask.of($0) } != nil
    }

    override func load(_ load: LoadContext) async throws { try await MemberTask.of(load.request)?.run(load) }
}

/// What a program asked for. It stays with the request when the archive's server redirects.
final class MemberTask: Sendable {
    let target: ArchiveURL
    let request: MemberRequest
    let state: ArchiveState
    /// What the directory is kept under: the archive's URL before any redirect, and the program's fields.
    let key: DirectoryCache.Key

    private static let property = "LoadingKitArchives.MemberTask"

    /// What stays with a request for a range.
    private final class Mark: Sendable {
        let task: MemberTask
        /// What was requested.
        let url: URL

        init(_ task: MemberTask, _ url: URL) { (self.task, self.url) = (task, url) }
    }

    init(_ request: URLRequest, _ state: ArchiveState) throws(ArchiveError) {
        guard let url = request.url else { throw .invalidURL("there is none") }
        target = try ArchiveURL(url)
        self.request = try MemberRequest(request)
        self.state = state
        key = DirectoryCache.Key(target.archive, RangeRequest.fields(of: request))
    }

    /// The task that a request for a range belongs to. A task's own current request is such a one after a redirect alone.
    static func of(_ request: URLRequest) -> MemberTask? { mark(of: request)?.task }

    /// Whether the request is no request for a range itself, which must not be taken for a member's, but what one was
    /// redirected to.
    static func isRedirected(_ request: URLRequest) -> Bool { mark(of: request).map { $0.url != request.url } ?? false }

    private static func mark(of request: URLRequest) -> Mark? {
        URLProtocol.property(forKey: property, in: request) as? Mark
    }

    func run(_ load: LoadContext) async throws {
        let isRedirected = Self.of(load.request) != nil
        let source = ArchiveSource(
            next: load.next,
            request: mark(RangeRequest.base(load.request, isRedirected ? load.url : target.archive)))
        let final = ArchiveURL(archive: load.url, memberBytes: target.memberBytes)
        let url = isRedirected ? final.url ?? load.url : load.url
        var answering = ArchiveLoad(load: load, task: self, source: source, url: url)
        try await answering.run()
    }

    private func mark(_ request: URLRequest) -> URLRequest {
        guard let url = request.url,
            let mutable = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest
        else { return request }
        URLProtocol.setProperty(Mark(self, url), forKey: Self.property, in: mutable)
        return mutable as URLRequest
    }
}
