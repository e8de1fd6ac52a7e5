import Foundation
import LoadingKitPrimitives

/// The base class of every URL scheme's handler, including the built-in handlers.
///
/// Subclass it and override ``canInit(with:)-(URLRequest)`` and ``load(_:)``:
///
/// ```swift
/// final class GreetingHandler: URLProtocolHandler {
///     override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "greeting" }
///     override func load(_ load: LoadContext) async throws {
///         try await load.receive(URLResponse(
///             url: load.url, mimeType: "text/plain", expectedContentLength: -1, textEncodingName: "utf-8"))
///         try await load.receive(Data("hello".utf8))
///     }
/// }
/// ```
///
/// Existing subclasses of `URLProtocol`, which override ``startLoading()`` and ``stopLoading()`` and report their load
/// to ``client``, compile and work unchanged. These two methods are called one after the other, on a separate thread
/// for as long as they run: they may block, and may wait for loads of the same session. The process has at most 512
/// such threads, for ``startLoading()``, for ``LoadContext/offLoop(_:)`` and for streams of request bodies together.
/// Where all are busy, a load waits in order for a thread; meanwhile its `timeoutIntervalForRequest` does not run,
/// and its `timeoutIntervalForResource` does. Where the system cannot provide a thread, the load fails with
/// `URLError.resourceUnavailable`. The methods that decide about a load, `canInit` and `canonicalRequest`, are called
/// on the session's event loop and must not block.
open class URLProtocolHandler: NSObject, @unchecked Sendable {  // `state` is guarded by its mutex
    private struct State {
        var client: (any URLProtocolClient)?
        var task: URLSessionTask?
        /// Leads to the load that this handler runs.
        var link: HandlerClient?
    }

    private let state: Guarded<State>

    /// The request that this instance loads.
    open private(set) var request: URLRequest

    /// A stored response for the request, when the caller had one.
    open private(set) var cachedResponse: CachedURLResponse?

    /// Receives the load's events. Its methods may be called from any thread; events after the end are dropped.
    open var client: (any URLProtocolClient)? {
        get { state.withLock { $0.client } }
        set { withExtendedLifetime(state.withLock { exchange(&$0.client, for: newValue) }) {} }
    }

    /// The task that the load belongs to.
    open var task: URLSessionTask? {
        get { state.withLock { $0.task } }
        set { withExtendedLifetime(state.withLock { exchange(&$0.task, for: newValue) }) {} }
    }

    /// Makes a handler for a request.
    public required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        self.request = request
        self.cachedResponse = cachedResponse
        state = Guarded(State(client: client))
    }

    /// Makes a handler for a task's current request. The session calls this initializer, and
    /// ``init(request:cachedResponse:client:)`` for a request that an interceptor has changed.
    public required convenience init(
        task: URLSessionTask, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
    ) {
        let request =
            task.shared.withLock { $0.handlersRequest } ?? task.currentRequest ?? task.originalRequest
            ?? URLRequest(url: URL(fileURLWithPath: "/"))
        self.init(request: request, cachedResponse: cachedResponse, client: client)
        self.task = task
    }

    /// Replaces the task's own request, which a subclass's initializer may have taken, by its standard form.
    func replaceRequest(_ own: URLRequest, by canonical: URLRequest) {
        if request.storage === own.storage { request = canonical }
    }

    /// Whether this class can load the request. The base class can load none.
    open class func canInit(with request: URLRequest) -> Bool { false }

    /// Whether this class can load the task's current request. By default, the result of
    /// ``canInit(with:)-(URLRequest)`` for the request with the fields of the session's
    /// ``URLSessionConfiguration/httpAdditionalHeaders``.
    open class func canInit(with task: URLSessionTask) -> Bool {
        guard let request = task.currentRequest else { return false }
        return canInit(with: task.session?.core.withSessionFields(request, of: task) ?? request)
    }

    /// The request in this scheme's standard form. By default, the request itself.
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Whether the same cache entry would answer two requests. By default, whether they are equal.
    open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool { a == b }

    /// Loads the request, and reports the response to `load`. The load finishes when this method returns, and fails
    /// when it throws.
    ///
    /// The Swift task that runs the method is cancelled with the load. Where another task awaits the load, this task
    /// may start on that task's thread, which has nothing else to do; it never starts on the session's event loop. Like
    /// all asynchronous code the method must not block: what has to block runs in ``LoadContext/offLoop(_:)``, or in
    /// ``startLoading()`` instead.
    open func load(_ load: LoadContext) async throws {
        throw LoadFailure(.unsupportedURL, "\(type(of: self)) overrides neither load(_:) nor startLoading()")
    }

    /// Starts the load; may block. The base class runs ``load(_:)`` in a separate task.
    open func startLoading() { run?.starter.baseStartLoading() }

    /// Stops the load: called once, when the load has finished, failed or was cancelled. The base class cancels the
    /// task that runs ``load(_:)``.
    open func stopLoading() { run?.starter.cancelTask() }

    /// The load that this handler runs; nil after its end.
    var run: HandlerLoad? { state.withLock { $0.link }?.run }

    /// Gives the handler its task and its client.
    func attach(to task: URLSessionTask, _ client: HandlerClient) {
        // Objects of the program are released after the lock.
        let gone = state.withLock { state in
            (exchange(&state.client, for: client), exchange(&state.task, for: task), exchange(&state.link, for: client))
        }
        withExtendedLifetime(gone) {}
    }

    // MARK: Properties of requests

    /// The value that ``setProperty(_:forKey:in:)`` stored with a request.
    open class func property(forKey key: String, in request: URLRequest) -> Any? { request.properties[key] }

    /// Stores a value with a request, for handlers that get it later.
    open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {
        request.setProperty(value, forKey: key)
    }

    /// Removes a value that ``setProperty(_:forKey:in:)`` stored.
    open class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
        request.setProperty(nil, forKey: key)
    }

    // MARK: Registration for every session

    static let registered = Guarded<[URLProtocolHandler.Type]>([])

    /// Adds this class to the handlers of every session of the process. The class that was registered last comes first,
    /// after the session's own `protocolClasses` and factories and before the built-in classes.
    ///
    /// - Returns: false when the class is not a subclass of ``URLProtocolHandler``.
    @discardableResult
    open class func registerClass(_ protocolClass: AnyClass) -> Bool {
        guard let handler = protocolClass as? URLProtocolHandler.Type else { return false }
        registered.withLock { classes in
            classes.removeAll { $0 == handler }
            classes.insert(handler, at: 0)
        }
        return true
    }

    /// Reverses ``registerClass(_:)``. Loads in progress continue.
    open class func unregisterClass(_ protocolClass: AnyClass) {
        registered.withLock { classes in classes.removeAll { $0 == protocolClass } }
    }
}

/// Apple's name of ``URLProtocolHandler``.
public typealias URLProtocol = URLProtocolHandler
