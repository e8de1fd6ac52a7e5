import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// Loads URLs of every scheme, with one configuration and one delegate.
///
/// A session holds its delegate until it is invalidated, by ``finishTasksAndInvalidate()`` or
/// ``invalidateAndCancel()``. All of its members may be used from any thread.
open class URLSession: NSObject, NSCopying, @unchecked Sendable {  // constants, and a description guarded by its mutex
    package let core: SessionCore
    private let entry: SessionEntry
    private let delegateBox: DelegateBox
    private let description_ = Guarded<String?>(nil)

    /// Makes a session without a delegate. Its completion handlers run one at a time on the session's own queue.
    public init(configuration: URLSessionConfiguration) {
        delegateBox = DelegateBox(nil)
        core = SessionCore(configuration.settings, nil, delegateBox, configuration.loop)
        entry = LiveSessions.add(core)
        super.init()
        attachInBackground(configuration.settings, hasDelegate: false)
    }

    /// Makes a session with a copy of a configuration.
    ///
    /// - Parameters:
    ///   - delegate: the delegate, which the session holds until it is invalidated.
    ///   - queue: the queue for calls of the delegate's methods and of completion handlers; it should be serial. Nil:
    ///     the session's own serial queue. On any queue, a session's calls are made one after the other: no call may
    ///     wait for another one.
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        delegateBox = DelegateBox(delegate)
        core = SessionCore(configuration.settings, queue, delegateBox, configuration.loop)
        entry = LiveSessions.add(core)
        super.init()
        attachInBackground(configuration.settings, hasDelegate: delegate != nil)
    }

    /// Not a designated initializer: a program's subclass could not override it, and would then not inherit the others.
    package convenience init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?,
        loop: EventLoop
    ) {
        self.init(
            configuration: ConfigurationOnLoop(configuration.settings, loop), delegate: delegate, delegateQueue: queue)
    }

    private func attachInBackground(_ settings: SessionSettings, hasDelegate: Bool) {
        guard settings.makeBackground != nil else { return }
        precondition(hasDelegate, BackgroundRules.noDelegate)
        core.attachInBackground(self)
    }

    deinit { core.loop.execute { [core] in core.close() } }

    /// The session itself: it is not copied, as on Apple's systems.
    open override func copy() -> Any { self }

    /// The session itself: it is not copied, as on Apple's systems.
    open func copy(with zone: NSZone?) -> Any { self }

    /// A copy of the session's configuration.
    open var configuration: URLSessionConfiguration { URLSessionConfiguration(settings: core.settings) }

    /// The session's delegate; nil once the session is invalidated.
    open var delegate: (any URLSessionDelegate)? { delegateBox.current?.first }

    /// The queue on which the delegate's methods and completion handlers are called.
    open var delegateQueue: OperationQueue { core.mailbox.queue }

    /// A text that the program assigns to the session, for human readers.
    open var sessionDescription: String? {
        get { description_.withLock { $0 } }
        set { description_.withLock { $0 = newValue } }
    }

    /// The session's event loop. A task that runs on it (`Task(executorPreference:)`) awaits the session's loads
    /// without switching threads. It must not block.
    public var executor: any TaskExecutor & SerialExecutor { core.loop.executor }

    /// The handlers that the session tries for a request.
    public var registry: URLProtocolRegistry { core.registry }

    // MARK: Invalidation

    /// Lets the session's tasks finish, and then releases the delegate. Tasks created later fail with
    /// `URLError.cancelled`.
    open func finishTasksAndInvalidate() { core.loop.execute { self.core.finishTasks(self) } }

    /// Lets the session's tasks finish, as ``finishTasksAndInvalidate()`` does, and returns when the session is invalidated
    /// and its delegate was told. The shared session is never invalidated: there it returns at once.
    open func finishTasks() async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            core.loop.execute {
                self.core.whenInvalidated { continuation.resume() }
                self.core.finishTasks(self)
            }
        }
    }

    /// Cancels the session's tasks, and then releases the delegate. Tasks created later fail with `URLError.cancelled`.
    open func invalidateAndCancel() { core.loop.execute { self.core.cancelTasks(self) } }

    // MARK: Tasks and storage

    /// Empties the session's cache, cookie storage and credential storage, in memory and on disk. Other sessions may
    /// share these. Later requests open new connections: idle ones are closed, and the others end with their requests.
    /// Files of trusted authorities and revocation lists are read again if they have changed. The handler is called on
    /// the delegate queue.
    open func reset(completionHandler: @escaping @Sendable () -> Void) {
        core.settings.credentialStorage?.removeAll()
        core.settings.urlCache?.removeAllCachedResponses()
        core.settings.httpCookieStorage?.removeCookies(since: .distantPast)
        core.settings.hsts.removeAll()
        flush(.reset, completionHandler)
    }

    /// Empties the session's stores, and makes later requests open new connections; see ``reset(completionHandler:)``.
    open func reset() async {
        await withCheckedContinuation { continuation in reset { continuation.resume() } }
    }

    /// Writes cookies, credentials and responses to disk, and makes later requests open new connections; files of
    /// trusted authorities and revocation lists are read again if they have changed. The handler is called on the
    /// delegate queue, when everything that this process has is written, or could not be written. The daemon of
    /// background sessions is asked to write what it has received, such as cookies, and is not waited for.
    open func flush(completionHandler: @escaping @Sendable () -> Void) { flush(.flush, completionHandler) }

    /// - Parameter command: The command of a background session to the performer of its transfers.
    private func flush(_ command: TransferCommand, _ completionHandler: @escaping @Sendable () -> Void) {
        core.loop.execute {
            self.core.resetResources()
            self.core.background?.send(command)
            self.core.flushStores { self.core.loop.execute { self.core.mailbox.post(completionHandler) } }
        }
    }

    /// Writes the session's stores to disk; see ``flush(completionHandler:)``.
    open func flush() async {
        await withCheckedContinuation { continuation in flush { continuation.resume() } }
    }

    /// Passes the tasks that have not ended to `completionHandler`, on the delegate queue.
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        core.loop.execute {
            self.core.whenTasksAreKnown {
                let tasks = self.core.tasks
                self.core.mailbox.post { completionHandler(Self.inOrder(tasks)) }
            }
        }
    }

    /// The tasks that have not ended.
    open var allTasks: [URLSessionTask] {
        get async {
            let tasks = await withCheckedContinuation { continuation in
                core.loop.execute {
                    self.core.whenTasksAreKnown { continuation.resume(returning: self.core.tasks) }
                }
            }
            return Self.inOrder(tasks)
        }
    }

    /// Not called on the event loop, because there may be many tasks to sort.
    private static func inOrder(_ tasks: [URLSessionTask]) -> [URLSessionTask] {
        tasks.filter { $0.state != .completed }.sorted { $0.identifier < $1.identifier }
    }

    /// Passes the data, upload and download tasks that have not ended to the handler, on the delegate queue.
    open func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) -> Void
    ) {
        getAllTasks { tasks in
            let (data, uploads, downloads) = Self.sorted(tasks)
            completionHandler(data, uploads, downloads)
        }
    }

    /// The data, upload and download tasks that have not ended.
    open var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        get async { Self.sorted(await allTasks) }
    }

    private static func sorted(
        _ tasks: [URLSessionTask]
    ) -> ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        let uploads = tasks.compactMap { $0 as? URLSessionUploadTask }
        let data = tasks.compactMap { $0 is URLSessionUploadTask ? nil : $0 as? URLSessionDataTask }
        return (data, uploads, tasks.compactMap { $0 as? URLSessionDownloadTask })
    }

    // MARK: Data tasks

    /// A task that loads a request for the delegate.
    open func dataTask(with request: URLRequest) -> URLSessionDataTask { remember(makeDataTask(request, .delegate)) }

    /// A task that loads a URL for the delegate.
    open func dataTask(with url: URL) -> URLSessionDataTask { dataTask(with: URLRequest(url: url)) }

    /// A task that loads a request for a completion handler, which is called once, on the delegate queue.
    open func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        remember(makeDataTask(request, .completion(completionHandler)))
    }

    /// A task that loads a URL for a completion handler, which is called once, on the delegate queue.
    open func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// A task that reports to its delegate, and writes the response's body into a file instead of passing it to the
    /// delegate.
    package func dataTask(with request: URLRequest, into file: any SpooledFile) -> URLSessionDataTask {
        makeDataTask(request, .delegateAndFile(file))
    }

    private func makeDataTask(_ request: URLRequest, _ consumer: TaskConsumer) -> URLSessionDataTask {
        URLSessionDataTask(self, request, identifier: newIdentifier(for: consumer), consumer: consumer)
    }

    // MARK: Upload tasks

    /// A task that sends a file as the request's body, for the delegate. The request's own body is ignored.
    open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        remember(makeUpload(request.sending(fileURL), .delegate))
    }

    /// A task that sends data as the request's body, for the delegate. The request's own body is ignored.
    open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        requireForeground(BackgroundRules.uploadOfData)
        return remember(makeUpload(request.sending(bodyData), .delegate))
    }

    /// A task that sends a stream as the request's body, for the delegate. When the task starts, it gets the stream
    /// from the delegate's method `needNewBodyStream`. Where that returns none, the request's own stream is sent.
    ///
    /// Without a `Content-Length` in the request, the body is sent in chunks (HTTP/1.1). With one, the stream must have
    /// exactly that number of bytes.
    open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        requireForeground(BackgroundRules.uploadOfStream)
        return remember(
            URLSessionUploadTask(
                self, request, identifier: core.nextIdentifier(), consumer: .delegate, requestsBodyStream: true))
    }

    /// A task that sends a file as the request's body, for a completion handler, which is called once, on the delegate
    /// queue.
    open func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        remember(makeUpload(request.sending(fileURL), .completion(completionHandler)))
    }

    /// A task that sends data as the request's body, for a completion handler, which is called once, on the delegate
    /// queue.
    open func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        remember(makeUpload(request.sending(bodyData), .completion(completionHandler)))
    }

    /// A task that resumes an interrupted or cancelled upload, for the delegate.
    ///
    /// It requests the received offset from the server, and sends the rest. A file must not have changed since the
    /// upload started. For an upload from a stream, the delegate's method `needNewBodyStreamFrom` provides the rest.
    /// With data that is not an upload's resume data, the task fails with `URLError.cannotDecodeRawData`. In a
    /// background session the upload must be of a file, or the task fails with `URLError.resourceUnavailable`. See
    /// <doc:ResumableUploads>.
    open func uploadTask(withResumeData resumeData: Data) -> URLSessionUploadTask {
        remember(makeUpload(resumeData, .delegate))
    }

    /// A task that resumes an interrupted or cancelled upload, for a completion handler, which is called once, on the
    /// delegate queue; see ``uploadTask(withResumeData:)``.
    open func uploadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        remember(makeUpload(resumeData, .completion(completionHandler)))
    }

    // MARK: Download tasks

    /// A task that loads a request into a file, for the delegate.
    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        remember(makeDownload(request, .file(.delegate)))
    }

    /// A task that loads a URL into a file, for the delegate.
    open func downloadTask(with url: URL) -> URLSessionDownloadTask { downloadTask(with: URLRequest(url: url)) }

    /// A task that resumes an interrupted or cancelled download, for the delegate.
    ///
    /// It requests the rest from the server. When the resource has changed, the download starts from the beginning.
    /// When the server reports that there is no rest, the download is complete: the task's response then has the
    /// status 206 and no content.
    /// With data that is not resume data, the task fails with `URLError.cannotDecodeRawData`.
    open func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        remember(makeDownload(resumeData, .file(.delegate)))
    }

    /// A task that loads a request into a file, for a completion handler, which is called once, on the delegate queue.
    /// The file is deleted when the handler returns.
    open func downloadTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        remember(makeDownload(request, .file(.completion(completionHandler))))
    }

    /// A task that loads a URL into a file, for a completion handler, which is called once, on the delegate queue. The
    /// file is deleted when the handler returns.
    open func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// A task that resumes an interrupted or cancelled download, for a completion handler, which is called once, on the
    /// delegate queue. The file is deleted when the handler returns.
    open func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        remember(makeDownload(resumeData, .file(.completion(completionHandler))))
    }

    // MARK: Stream tasks

    /// A task that connects to a host and port. Resume it to connect.
    ///
    /// - Parameters:
    ///   - hostname: a name, or an address, with or without brackets.
    ///   - port: 1 to 65,535; with any other port the task fails with `URLError.badURL`.
    open func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        requireForeground(BackgroundRules.stream)
        return remember(URLSessionStreamTask(self, host: hostname, port: port, identifier: core.nextIdentifier()))
    }

    // MARK: WebSocket tasks

    /// A task that opens a WebSocket connection to a `ws`, `wss`, `http` or `https` URL.
    ///
    /// Where the session has an HTTP/2 connection to the host, and the server permits it (RFC 8441), the WebSocket is
    /// opened on a stream of that connection. Otherwise it is opened on an HTTP/1.1 connection; or on a new HTTP/2
    /// connection, if the server does not support HTTP/1.1.
    open func webSocketTask(with url: URL) -> URLSessionWebSocketTask { webSocketTask(with: URLRequest(url: url)) }

    /// A task that opens a WebSocket connection, and offers subprotocols to the server, in the order of preference
    /// (`Sec-WebSocket-Protocol`).
    open func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
        var request = URLRequest(url: url)
        if !protocols.isEmpty {
            request.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
        }
        return webSocketTask(with: request)
    }

    /// A task that opens a WebSocket connection with a request. The request's method and body are not used. The session
    /// sets the fields of the handshake itself, except for `Sec-WebSocket-Protocol`.
    open func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
        requireForeground(BackgroundRules.webSocket)
        return remember(URLSessionWebSocketTask(self, request, identifier: core.nextIdentifier()))
    }

    func remember<Task: URLSessionTask>(_ task: Task) -> Task {
        core.remember(task)
        announce(task)
        return task
    }

    /// Reports a new task to its delegate (`didCreateTask`), on the thread that creates it, before the program has it.
    ///
    /// - Parameter own: a delegate for the task only, which is set before.
    func announce(_ task: URLSessionTask, _ own: (any URLSessionTaskDelegate)? = nil) {
        if let own { task.delegate = own }
        guard own != nil || delegate != nil else { return }
        delegates(before: own ?? task.delegate)?.task?.urlSession(self, didCreateTask: task)
    }

    /// The delegates to which a task reports; nil where it has none.
    ///
    /// - Parameter own: the task's own delegate.
    func delegates(before own: (any URLSessionTaskDelegate)?) -> TaskDelegates? {
        guard let own else { return delegateBox.current }
        return TaskDelegates(own: own, shared: delegateBox.current?.first)
    }
}

/// The configuration of a session whose event loop is given.
private final class ConfigurationOnLoop: URLSessionConfiguration, @unchecked Sendable {  // as its superclass
    let eventLoop: EventLoop

    init(_ settings: SessionSettings, _ loop: EventLoop) {
        eventLoop = loop
        super.init(settings: settings)
    }
}

extension URLSessionConfiguration {
    fileprivate var loop: EventLoop { (self as? ConfigurationOnLoop)?.eventLoop ?? .next() }
}

extension URLSession {
    /// The action for a response.
    public enum ResponseDisposition: Int, Sendable {
        /// End the task with `URLError.cancelled`.
        case cancel = 0
        /// Continue.
        case allow = 1
        /// Continue as a download, which replaces the data task.
        case becomeDownload = 2
        /// Continue as a stream task, which replaces the data task (`urlSession(_:dataTask:didBecome:)`). The program
        /// reads the rest of the response from it.
        ///
        /// For most responses, the rest is the body as a data task gets it: decoded, and received no faster than it is
        /// read. At the body's end the stream ends, too (`atEOF`), and so does the task. A program that does not need
        /// the complete body closes the read side, or cancels the task. Such a stream can only be read: its write side
        /// is closed. A write fails with `URLError.cancelled`, and ``URLSessionStreamTask/startSecureConnection()``
        /// ends the task with `URLError.secureConnectionFailed`.
        ///
        /// After two kinds of responses, the program gets the connection: 101 (Switching Protocols) to a request with
        /// an `Upgrade` field (RFC 9110 §7.8), and 2xx to `CONNECT` (RFC 9110 §9.3.6). The stream task then reads and
        /// writes the connection's bytes unchanged. It may start TLS on a connection that has none, with the URL's
        /// host, or with the host in the `CONNECT` request. Such requests are sent over HTTP/1.1, each on a separate
        /// connection. With any other disposition such a response has no body, and its connection is closed.
        case becomeStream = 3
    }

    /// The action for a task whose `earliestBeginDate` has arrived.
    public enum DelayedRequestDisposition: Int, Sendable {
        /// Load the task's original request.
        case continueLoading = 0
        /// Load another request.
        case useNewRequest = 1
        /// End the task with `URLError.cancelled`.
        case cancel = 2
    }

    /// The action for an authentication challenge.
    public typealias AuthChallengeDisposition = URLSessionAuthChallengeDisposition
}
