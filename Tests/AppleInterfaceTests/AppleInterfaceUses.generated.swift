// swift-format-ignore-file
// Made by Scripts/apple-interface.py from AppleInterface.md: do not change it by hand.
import Foundation
import LoadingKit

/// The compiler does not accept that a stored property is set to itself.
private func same<Value>(_ value: Value) -> Value { value }

func useURLSession(_ it: URLSession) {
    // class URLSession : NSObject
    let _: URLSession.Type = URLSession.self
    // class var shared: URLSession { get }
    let _: URLSession = URLSession.shared
    // init(configuration: URLSessionConfiguration)
    let _: (URLSessionConfiguration) -> URLSession = URLSession.init(configuration:)
    // init(configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?)
    let _: (URLSessionConfiguration, (any URLSessionDelegate)?, OperationQueue?) -> URLSession = URLSession.init(configuration:delegate:delegateQueue:)
    // var delegateQueue: OperationQueue { get }
    let _: OperationQueue = it.delegateQueue
    // var delegate: (any URLSessionDelegate)? { get }
    let _: (any URLSessionDelegate)? = it.delegate
    // var configuration: URLSessionConfiguration { get }
    let _: URLSessionConfiguration = it.configuration
    // var sessionDescription: String? { get set }
    let _: String? = it.sessionDescription
    it.sessionDescription = same(it.sessionDescription)
    // func finishTasksAndInvalidate()
    let _: () -> Void = it.finishTasksAndInvalidate
    // func invalidateAndCancel()
    let _: () -> Void = it.invalidateAndCancel
    // func reset(completionHandler: @escaping @Sendable () -> Void)
    let _: (@escaping @Sendable () -> Void) -> Void = it.reset(completionHandler:)
    // func reset() async
    let _: () async -> Void = it.reset
    // func flush(completionHandler: @escaping @Sendable () -> Void)
    let _: (@escaping @Sendable () -> Void) -> Void = it.flush(completionHandler:)
    // func flush() async
    let _: () async -> Void = it.flush
    // func getTasksWithCompletionHandler(_ completionHandler: @escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) -> Void)
    let _: (@escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) -> Void) -> Void = it.getTasksWithCompletionHandler(_:)
    // var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) { get async }
    let _: () async -> ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) = { await it.tasks }
    // func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void)
    let _: (@escaping @Sendable ([URLSessionTask]) -> Void) -> Void = it.getAllTasks(completionHandler:)
    // var allTasks: [URLSessionTask] { get async }
    let _: () async -> [URLSessionTask] = { await it.allTasks }
    // func dataTask(with request: URLRequest) -> URLSessionDataTask
    let _: (URLRequest) -> URLSessionDataTask = it.dataTask(with:)
    // func dataTask(with url: URL) -> URLSessionDataTask
    let _: (URL) -> URLSessionDataTask = it.dataTask(with:)
    // func dataTask(with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionDataTask
    let _: (URLRequest, @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionDataTask = it.dataTask(with:completionHandler:)
    // func dataTask(with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionDataTask
    let _: (URL, @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionDataTask = it.dataTask(with:completionHandler:)
    // func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask
    let _: (URLRequest, URL) -> URLSessionUploadTask = it.uploadTask(with:fromFile:)
    // func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask
    let _: (URLRequest, Data) -> URLSessionUploadTask = it.uploadTask(with:from:)
    // func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask
    let _: (URLRequest) -> URLSessionUploadTask = it.uploadTask(withStreamedRequest:)
    // func uploadTask(with request: URLRequest, fromFile fileURL: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionUploadTask
    let _: (URLRequest, URL, @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionUploadTask = it.uploadTask(with:fromFile:completionHandler:)
    // func uploadTask(with request: URLRequest, from bodyData: Data?, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionUploadTask
    let _: (URLRequest, Data?, @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionUploadTask = it.uploadTask(with:from:completionHandler:)
    // func downloadTask(with request: URLRequest) -> URLSessionDownloadTask
    let _: (URLRequest) -> URLSessionDownloadTask = it.downloadTask(with:)
    // func downloadTask(with url: URL) -> URLSessionDownloadTask
    let _: (URL) -> URLSessionDownloadTask = it.downloadTask(with:)
    // func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask
    let _: (Data) -> URLSessionDownloadTask = it.downloadTask(withResumeData:)
    // func downloadTask(with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void) -> URLSessionDownloadTask
    let _: (URLRequest, @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void) -> URLSessionDownloadTask = it.downloadTask(with:completionHandler:)
    // func downloadTask(with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void) -> URLSessionDownloadTask
    let _: (URL, @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void) -> URLSessionDownloadTask = it.downloadTask(with:completionHandler:)
    // func downloadTask(withResumeData resumeData: Data, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void) -> URLSessionDownloadTask
    let _: (Data, @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void) -> URLSessionDownloadTask = it.downloadTask(withResumeData:completionHandler:)
    // func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask
    let _: (String, Int) -> URLSessionStreamTask = it.streamTask(withHostName:port:)
    // func streamTask(with service: NetService) -> URLSessionStreamTask
    let _: (String, Int) -> URLSessionStreamTask = it.streamTask(withHostName:port:)
    // func webSocketTask(with url: URL) -> URLSessionWebSocketTask
    let _: (URL) -> URLSessionWebSocketTask = it.webSocketTask(with:)
    // func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask
    let _: (URL, [String]) -> URLSessionWebSocketTask = it.webSocketTask(with:protocols:)
    // func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask
    let _: (URLRequest) -> URLSessionWebSocketTask = it.webSocketTask(with:)
    // func data(for request: URLRequest, delegate: (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse)
    let _: (URLRequest, (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) = it.data(for:delegate:)
    // func data(from url: URL, delegate: (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse)
    let _: (URL, (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) = it.data(from:delegate:)
    // func upload(for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse)
    let _: (URLRequest, URL, (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) = it.upload(for:fromFile:delegate:)
    // func upload(for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse)
    let _: (URLRequest, Data, (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) = it.upload(for:from:delegate:)
    // func download(for request: URLRequest, delegate: (any URLSessionTaskDelegate)?) async throws -> (URL, URLResponse)
    let _: (URLRequest, (any URLSessionTaskDelegate)?) async throws -> (URL, URLResponse) = it.download(for:delegate:)
    // func download(from url: URL, delegate: (any URLSessionTaskDelegate)?) async throws -> (URL, URLResponse)
    let _: (URL, (any URLSessionTaskDelegate)?) async throws -> (URL, URLResponse) = it.download(from:delegate:)
    // func download(resumeFrom resumeData: Data, delegate: (any URLSessionTaskDelegate)?) async throws -> (URL, URLResponse)
    let _: (Data, (any URLSessionTaskDelegate)?) async throws -> (URL, URLResponse) = it.download(resumeFrom:delegate:)
    // func bytes(for request: URLRequest, delegate: (any URLSessionTaskDelegate)?) async throws -> (URLSession.AsyncBytes, URLResponse)
    let _: (URLRequest, (any URLSessionTaskDelegate)?) async throws -> (URLSession.AsyncBytes, URLResponse) = it.bytes(for:delegate:)
    // func bytes(from url: URL, delegate: (any URLSessionTaskDelegate)?) async throws -> (URLSession.AsyncBytes, URLResponse)
    let _: (URL, (any URLSessionTaskDelegate)?) async throws -> (URLSession.AsyncBytes, URLResponse) = it.bytes(from:delegate:)
    // func dataTaskPublisher(for url: URL) -> URLSession.DataTaskPublisher
    let _: (URL, (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) = it.data(from:delegate:)
    // func dataTaskPublisher(for request: URLRequest) -> URLSession.DataTaskPublisher
    let _: (URLRequest, (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) = it.data(for:delegate:)
    // func uploadTask(withResumeData resumeData: Data) -> URLSessionUploadTask
    let _: (Data) -> URLSessionUploadTask = it.uploadTask(withResumeData:)
    // func uploadTask(withResumeData resumeData: Data, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionUploadTask
    let _: (Data, @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionUploadTask = it.uploadTask(withResumeData:completionHandler:)
    // func upload(resumeFrom resumeData: Data, delegate: (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse)
    let _: (Data, (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse) = it.upload(resumeFrom:delegate:)
}

func useURLSessionAsyncBytes(_ it: URLSession.AsyncBytes) {
    // struct AsyncBytes : AsyncSequence, Sendable
    let _: URLSession.AsyncBytes.Type = URLSession.AsyncBytes.self
    // var task: URLSessionDataTask { get }
    let _: URLSessionDataTask = it.task
    // func makeAsyncIterator() -> URLSession.AsyncBytes.Iterator
    let _: () -> URLSession.AsyncBytes.Iterator = it.makeAsyncIterator
    // var lines: AsyncLineSequence<URLSession.AsyncBytes> { get }
    let _: AsyncLineSequence<URLSession.AsyncBytes> = it.lines
    // var characters: AsyncCharacterSequence<URLSession.AsyncBytes> { get }
    let _: AsyncCharacterSequence<URLSession.AsyncBytes> = it.characters
    // var unicodeScalars: AsyncUnicodeScalarSequence<URLSession.AsyncBytes> { get }
    let _: AsyncUnicodeScalarSequence<URLSession.AsyncBytes> = it.unicodeScalars
}

func useURLSessionDelayedRequestDisposition(_ it: URLSession.DelayedRequestDisposition) {
    // enum DelayedRequestDisposition : Int
    let _: URLSession.DelayedRequestDisposition.Type = URLSession.DelayedRequestDisposition.self
    // case continueLoading
    let _: URLSession.DelayedRequestDisposition = .continueLoading
    // case useNewRequest
    let _: URLSession.DelayedRequestDisposition = .useNewRequest
    // case cancel
    let _: URLSession.DelayedRequestDisposition = .cancel
}

func useURLSessionAuthChallengeDisposition(_ it: URLSession.AuthChallengeDisposition) {
    // enum AuthChallengeDisposition : Int
    let _: URLSession.AuthChallengeDisposition.Type = URLSession.AuthChallengeDisposition.self
    // case useCredential
    let _: URLSession.AuthChallengeDisposition = .useCredential
    // case performDefaultHandling
    let _: URLSession.AuthChallengeDisposition = .performDefaultHandling
    // case cancelAuthenticationChallenge
    let _: URLSession.AuthChallengeDisposition = .cancelAuthenticationChallenge
    // case rejectProtectionSpace
    let _: URLSession.AuthChallengeDisposition = .rejectProtectionSpace
}

func useURLSessionResponseDisposition(_ it: URLSession.ResponseDisposition) {
    // enum ResponseDisposition : Int
    let _: URLSession.ResponseDisposition.Type = URLSession.ResponseDisposition.self
    // case cancel
    let _: URLSession.ResponseDisposition = .cancel
    // case allow
    let _: URLSession.ResponseDisposition = .allow
    // case becomeDownload
    let _: URLSession.ResponseDisposition = .becomeDownload
    // case becomeStream
    let _: URLSession.ResponseDisposition = .becomeStream
}

func useURLSessionConfiguration(_ it: URLSessionConfiguration) {
    // class URLSessionConfiguration : NSObject, NSCopying
    let _: URLSessionConfiguration.Type = URLSessionConfiguration.self
    // class var default: URLSessionConfiguration { get }
    let _: URLSessionConfiguration = URLSessionConfiguration.default
    // class var ephemeral: URLSessionConfiguration { get }
    let _: URLSessionConfiguration = URLSessionConfiguration.ephemeral
    // class func background(withIdentifier identifier: String) -> URLSessionConfiguration
    let _: (String) -> URLSessionConfiguration = URLSessionConfiguration.background(withIdentifier:)
    // var identifier: String? { get }
    let _: String? = it.identifier
    // var requestCachePolicy: NSURLRequest.CachePolicy { get set }
    let _: NSURLRequest.CachePolicy = it.requestCachePolicy
    it.requestCachePolicy = same(it.requestCachePolicy)
    // var timeoutIntervalForRequest: TimeInterval { get set }
    let _: TimeInterval = it.timeoutIntervalForRequest
    it.timeoutIntervalForRequest = same(it.timeoutIntervalForRequest)
    // var timeoutIntervalForResource: TimeInterval { get set }
    let _: TimeInterval = it.timeoutIntervalForResource
    it.timeoutIntervalForResource = same(it.timeoutIntervalForResource)
    // var networkServiceType: NSURLRequest.NetworkServiceType { get set }
    let _: NSURLRequest.NetworkServiceType = it.networkServiceType
    it.networkServiceType = same(it.networkServiceType)
    // var allowsCellularAccess: Bool { get set }
    let _: Bool = it.allowsCellularAccess
    it.allowsCellularAccess = same(it.allowsCellularAccess)
    // var allowsExpensiveNetworkAccess: Bool { get set }
    let _: Bool = it.allowsExpensiveNetworkAccess
    it.allowsExpensiveNetworkAccess = same(it.allowsExpensiveNetworkAccess)
    // var allowsConstrainedNetworkAccess: Bool { get set }
    let _: Bool = it.allowsConstrainedNetworkAccess
    it.allowsConstrainedNetworkAccess = same(it.allowsConstrainedNetworkAccess)
    // var allowsUltraConstrainedNetworkAccess: Bool { get set }
    let _: Bool = it.allowsUltraConstrainedNetworkAccess
    it.allowsUltraConstrainedNetworkAccess = same(it.allowsUltraConstrainedNetworkAccess)
    // var requiresDNSSECValidation: Bool { get set }
    let _: Bool = it.requiresDNSSECValidation
    it.requiresDNSSECValidation = same(it.requiresDNSSECValidation)
    // var waitsForConnectivity: Bool { get set }
    let _: Bool = it.waitsForConnectivity
    it.waitsForConnectivity = same(it.waitsForConnectivity)
    // var isDiscretionary: Bool { get set }
    let _: Bool = it.isDiscretionary
    it.isDiscretionary = same(it.isDiscretionary)
    // var sharedContainerIdentifier: String? { get set }
    let _: String? = it.sharedContainerIdentifier
    it.sharedContainerIdentifier = same(it.sharedContainerIdentifier)
    // var sessionSendsLaunchEvents: Bool { get set }
    let _: Bool = it.sessionSendsLaunchEvents
    it.sessionSendsLaunchEvents = same(it.sessionSendsLaunchEvents)
    // var connectionProxyDictionary: [AnyHashable: Any]? { get set }
    let _: [AnyHashable: Any]? = it.connectionProxyDictionary
    it.connectionProxyDictionary = same(it.connectionProxyDictionary)
    // var proxyConfigurations: [ProxyConfiguration] { get set }
    let _: [ProxyConfiguration] = it.proxyConfigurations
    it.proxyConfigurations = same(it.proxyConfigurations)
    // var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t { get set }
    let _: tls_protocol_version_t = it.tlsMinimumSupportedProtocolVersion
    it.tlsMinimumSupportedProtocolVersion = same(it.tlsMinimumSupportedProtocolVersion)
    // var tlsMaximumSupportedProtocolVersion: tls_protocol_version_t { get set }
    let _: tls_protocol_version_t = it.tlsMaximumSupportedProtocolVersion
    it.tlsMaximumSupportedProtocolVersion = same(it.tlsMaximumSupportedProtocolVersion)
    // var httpShouldUsePipelining: Bool { get set }
    let _: Bool = it.httpShouldUsePipelining
    it.httpShouldUsePipelining = same(it.httpShouldUsePipelining)
    // var httpShouldSetCookies: Bool { get set }
    let _: Bool = it.httpShouldSetCookies
    it.httpShouldSetCookies = same(it.httpShouldSetCookies)
    // var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy { get set }
    let _: HTTPCookie.AcceptPolicy = it.httpCookieAcceptPolicy
    it.httpCookieAcceptPolicy = same(it.httpCookieAcceptPolicy)
    // var httpAdditionalHeaders: [AnyHashable: Any]? { get set }
    let _: [AnyHashable: Any]? = it.httpAdditionalHeaders
    it.httpAdditionalHeaders = same(it.httpAdditionalHeaders)
    // var httpMaximumConnectionsPerHost: Int { get set }
    let _: Int = it.httpMaximumConnectionsPerHost
    it.httpMaximumConnectionsPerHost = same(it.httpMaximumConnectionsPerHost)
    // var httpCookieStorage: HTTPCookieStorage? { get set }
    let _: HTTPCookieStorage? = it.httpCookieStorage
    it.httpCookieStorage = same(it.httpCookieStorage)
    // var urlCredentialStorage: URLCredentialStorage? { get set }
    let _: URLCredentialStorage? = it.urlCredentialStorage
    it.urlCredentialStorage = same(it.urlCredentialStorage)
    // var urlCache: URLCache? { get set }
    let _: URLCache? = it.urlCache
    it.urlCache = same(it.urlCache)
    // var shouldUseExtendedBackgroundIdleMode: Bool { get set }
    let _: Bool = it.shouldUseExtendedBackgroundIdleMode
    it.shouldUseExtendedBackgroundIdleMode = same(it.shouldUseExtendedBackgroundIdleMode)
    // var protocolClasses: [AnyClass]? { get set }
    let _: [AnyClass]? = it.protocolClasses
    it.protocolClasses = same(it.protocolClasses)
    // var multipathServiceType: URLSessionConfiguration.MultipathServiceType { get set }
    let _: URLSessionConfiguration.MultipathServiceType = it.multipathServiceType
    it.multipathServiceType = same(it.multipathServiceType)
    // var usesClassicLoadingMode: Bool { get set }
    let _: Bool = it.usesClassicLoadingMode
    it.usesClassicLoadingMode = same(it.usesClassicLoadingMode)
    // var enablesEarlyData: Bool { get set }
    let _: Bool = it.enablesEarlyData
    it.enablesEarlyData = same(it.enablesEarlyData)
}

@available(*, deprecated)
func useURLSessionConfigurationDeprecated(_ it: URLSessionConfiguration) {
    // class func backgroundSessionConfiguration(_ identifier: String) -> URLSessionConfiguration
    let _: (String) -> URLSessionConfiguration = URLSessionConfiguration.backgroundSessionConfiguration(_:)
    // var tlsMinimumSupportedProtocol: SSLProtocol { get set }
    let _: SSLProtocol = it.tlsMinimumSupportedProtocol
    it.tlsMinimumSupportedProtocol = same(it.tlsMinimumSupportedProtocol)
    // var tlsMaximumSupportedProtocol: SSLProtocol { get set }
    let _: SSLProtocol = it.tlsMaximumSupportedProtocol
    it.tlsMaximumSupportedProtocol = same(it.tlsMaximumSupportedProtocol)
}

func useURLSessionConfigurationMultipathServiceType(_ it: URLSessionConfiguration.MultipathServiceType) {
    // enum MultipathServiceType : Int
    let _: URLSessionConfiguration.MultipathServiceType.Type = URLSessionConfiguration.MultipathServiceType.self
    // case none
    let _: URLSessionConfiguration.MultipathServiceType = .none
    // case handover
    let _: URLSessionConfiguration.MultipathServiceType = .handover
    // case interactive
    let _: URLSessionConfiguration.MultipathServiceType = .interactive
    // case aggregate
    let _: URLSessionConfiguration.MultipathServiceType = .aggregate
}

func useURLSessionTask(_ it: URLSessionTask) {
    // class URLSessionTask : NSObject, NSCopying, ProgressReporting
    let _: URLSessionTask.Type = URLSessionTask.self
    // var taskIdentifier: Int { get }
    let _: Int = it.taskIdentifier
    // var originalRequest: URLRequest? { get }
    let _: URLRequest? = it.originalRequest
    // var currentRequest: URLRequest? { get }
    let _: URLRequest? = it.currentRequest
    // var response: URLResponse? { get }
    let _: URLResponse? = it.response
    // var delegate: (any URLSessionTaskDelegate)? { get set }
    let _: (any URLSessionTaskDelegate)? = it.delegate
    it.delegate = same(it.delegate)
    // var progress: Progress { get }
    let _: Progress = it.progress
    // var earliestBeginDate: Date? { get set }
    let _: Date? = it.earliestBeginDate
    it.earliestBeginDate = same(it.earliestBeginDate)
    // var countOfBytesClientExpectsToSend: Int64 { get set }
    let _: Int64 = it.countOfBytesClientExpectsToSend
    it.countOfBytesClientExpectsToSend = same(it.countOfBytesClientExpectsToSend)
    // var countOfBytesClientExpectsToReceive: Int64 { get set }
    let _: Int64 = it.countOfBytesClientExpectsToReceive
    it.countOfBytesClientExpectsToReceive = same(it.countOfBytesClientExpectsToReceive)
    // var countOfBytesSent: Int64 { get }
    let _: Int64 = it.countOfBytesSent
    // var countOfBytesReceived: Int64 { get }
    let _: Int64 = it.countOfBytesReceived
    // var countOfBytesExpectedToSend: Int64 { get }
    let _: Int64 = it.countOfBytesExpectedToSend
    // var countOfBytesExpectedToReceive: Int64 { get }
    let _: Int64 = it.countOfBytesExpectedToReceive
    // var taskDescription: String? { get set }
    let _: String? = it.taskDescription
    it.taskDescription = same(it.taskDescription)
    // func cancel()
    let _: () -> Void = it.cancel
    // var state: URLSessionTask.State { get }
    let _: URLSessionTask.State = it.state
    // var error: (any Error)? { get }
    let _: (any Error)? = it.error
    // func suspend()
    let _: () -> Void = it.suspend
    // func resume()
    let _: () -> Void = it.resume
    // var priority: Float { get set }
    let _: Float = it.priority
    it.priority = same(it.priority)
    // var prefersIncrementalDelivery: Bool { get set }
    let _: Bool = it.prefersIncrementalDelivery
    it.prefersIncrementalDelivery = same(it.prefersIncrementalDelivery)
    // class let defaultPriority: Float
    let _: Float = URLSessionTask.defaultPriority
    // class let lowPriority: Float
    let _: Float = URLSessionTask.lowPriority
    // class let highPriority: Float
    let _: Float = URLSessionTask.highPriority
    // let NSURLSessionTransferSizeUnknown: Int64
    let _: Int64 = NSURLSessionTransferSizeUnknown
}

func useURLSessionTaskState(_ it: URLSessionTask.State) {
    // enum State : Int
    let _: URLSessionTask.State.Type = URLSessionTask.State.self
    // case running
    let _: URLSessionTask.State = .running
    // case suspended
    let _: URLSessionTask.State = .suspended
    // case canceling
    let _: URLSessionTask.State = .canceling
    // case completed
    let _: URLSessionTask.State = .completed
}

func useURLSessionDataTask(_ it: URLSessionDataTask) {
    // class URLSessionDataTask : URLSessionTask
    let _: URLSessionDataTask.Type = URLSessionDataTask.self
}

func useURLSessionUploadTask(_ it: URLSessionUploadTask) {
    // class URLSessionUploadTask : URLSessionDataTask
    let _: URLSessionUploadTask.Type = URLSessionUploadTask.self
    // func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void)
    let _: (@escaping (Data?) -> Void) -> Void = it.cancel(byProducingResumeData:)
    // func cancelByProducingResumeData() async -> Data?
    let _: () async -> Data? = it.cancelByProducingResumeData
}

func useURLSessionDownloadTask(_ it: URLSessionDownloadTask) {
    // class URLSessionDownloadTask : URLSessionTask
    let _: URLSessionDownloadTask.Type = URLSessionDownloadTask.self
    // func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void)
    let _: (@escaping (Data?) -> Void) -> Void = it.cancel(byProducingResumeData:)
    // func cancelByProducingResumeData() async -> Data?
    let _: () async -> Data? = it.cancelByProducingResumeData
    // let NSURLSessionDownloadTaskResumeData: String
    let _: String = NSURLSessionDownloadTaskResumeData
    // let NSURLSessionUploadTaskResumeData: String
    let _: String = NSURLSessionUploadTaskResumeData
}

func useURLSessionStreamTask(_ it: URLSessionStreamTask) {
    // class URLSessionStreamTask : URLSessionTask
    let _: URLSessionStreamTask.Type = URLSessionStreamTask.self
    // func readData(ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval, completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void)
    let _: (Int, Int, TimeInterval, @escaping @Sendable (Data?, Bool, (any Error)?) -> Void) -> Void = it.readData(ofMinLength:maxLength:timeout:completionHandler:)
    // func readData(ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval) async throws -> (Data?, Bool)
    let _: (Int, Int, TimeInterval) async throws -> (Data?, Bool) = it.readData(ofMinLength:maxLength:timeout:)
    // func write(_ data: Data, timeout: TimeInterval, completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    let _: (Data, TimeInterval, @escaping @Sendable ((any Error)?) -> Void) -> Void = it.write(_:timeout:completionHandler:)
    // func write(_ data: Data, timeout: TimeInterval) async throws
    let _: (Data, TimeInterval) async throws -> Void = it.write(_:timeout:)
    // func captureStreams()
    let _: () -> Void = it.captureStreams
    // func closeWrite()
    let _: () -> Void = it.closeWrite
    // func closeRead()
    let _: () -> Void = it.closeRead
    // func startSecureConnection()
    let _: () -> Void = it.startSecureConnection
}

@available(*, deprecated)
func useURLSessionStreamTaskDeprecated(_ it: URLSessionStreamTask) {
    // func stopSecureConnection()
    let _: () -> Void = it.stopSecureConnection
}

func useURLSessionWebSocketTask(_ it: URLSessionWebSocketTask) {
    // class URLSessionWebSocketTask : URLSessionTask
    let _: URLSessionWebSocketTask.Type = URLSessionWebSocketTask.self
    // func send(_ message: URLSessionWebSocketTask.Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    let _: (URLSessionWebSocketTask.Message, @escaping @Sendable ((any Error)?) -> Void) -> Void = it.send(_:completionHandler:)
    // func send(_ message: URLSessionWebSocketTask.Message) async throws
    let _: (URLSessionWebSocketTask.Message) async throws -> Void = it.send(_:)
    // func receive(completionHandler: @escaping @Sendable (Result<URLSessionWebSocketTask.Message, any Error>) -> Void)
    let _: (@escaping @Sendable (Result<URLSessionWebSocketTask.Message, any Error>) -> Void) -> Void = it.receive(completionHandler:)
    // func receive() async throws -> URLSessionWebSocketTask.Message
    let _: () async throws -> URLSessionWebSocketTask.Message = it.receive
    // func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void)
    let _: (@escaping @Sendable ((any Error)?) -> Void) -> Void = it.sendPing(pongReceiveHandler:)
    // func cancel(with closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
    let _: (URLSessionWebSocketTask.CloseCode, Data?) -> Void = it.cancel(with:reason:)
    // var maximumMessageSize: Int { get set }
    let _: Int = it.maximumMessageSize
    it.maximumMessageSize = same(it.maximumMessageSize)
    // var closeCode: URLSessionWebSocketTask.CloseCode { get }
    let _: URLSessionWebSocketTask.CloseCode = it.closeCode
    // var closeReason: Data? { get }
    let _: Data? = it.closeReason
}

func useURLSessionWebSocketTaskMessage(_ it: URLSessionWebSocketTask.Message) {
    // enum Message
    let _: URLSessionWebSocketTask.Message.Type = URLSessionWebSocketTask.Message.self
    // case data(Data)
    let _: (Data) -> URLSessionWebSocketTask.Message = URLSessionWebSocketTask.Message.data
    // case string(String)
    let _: (String) -> URLSessionWebSocketTask.Message = URLSessionWebSocketTask.Message.string
}

func useURLSessionWebSocketTaskCloseCode(_ it: URLSessionWebSocketTask.CloseCode) {
    // enum CloseCode : Int
    let _: URLSessionWebSocketTask.CloseCode.Type = URLSessionWebSocketTask.CloseCode.self
    // case invalid
    let _: URLSessionWebSocketTask.CloseCode = .invalid
    // case normalClosure
    let _: URLSessionWebSocketTask.CloseCode = .normalClosure
    // case goingAway
    let _: URLSessionWebSocketTask.CloseCode = .goingAway
    // case protocolError
    let _: URLSessionWebSocketTask.CloseCode = .protocolError
    // case unsupportedData
    let _: URLSessionWebSocketTask.CloseCode = .unsupportedData
    // case noStatusReceived
    let _: URLSessionWebSocketTask.CloseCode = .noStatusReceived
    // case abnormalClosure
    let _: URLSessionWebSocketTask.CloseCode = .abnormalClosure
    // case invalidFramePayloadData
    let _: URLSessionWebSocketTask.CloseCode = .invalidFramePayloadData
    // case policyViolation
    let _: URLSessionWebSocketTask.CloseCode = .policyViolation
    // case messageTooBig
    let _: URLSessionWebSocketTask.CloseCode = .messageTooBig
    // case mandatoryExtensionMissing
    let _: URLSessionWebSocketTask.CloseCode = .mandatoryExtensionMissing
    // case internalServerError
    let _: URLSessionWebSocketTask.CloseCode = .internalServerError
    // case tlsHandshakeFailure
    let _: URLSessionWebSocketTask.CloseCode = .tlsHandshakeFailure
}

func useURLSessionDelegate(_ it: any URLSessionDelegate) {
    // protocol URLSessionDelegate : NSObjectProtocol, Sendable
    let _: (any URLSessionDelegate).Type = (any URLSessionDelegate).self
    // func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
    let _: (URLSession, (any Error)?) -> Void = it.urlSession(_:didBecomeInvalidWithError:)
    // func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge, completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    let _: (URLSession, URLAuthenticationChallenge, @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) -> Void = it.urlSession(_:didReceive:completionHandler:)
    // func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
    let _: (URLSession, URLAuthenticationChallenge) async -> (URLSession.AuthChallengeDisposition, URLCredential?) = it.urlSession(_:didReceive:)
    // func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
    let _: (URLSession) -> Void = it.urlSessionDidFinishEvents(forBackgroundURLSession:)
}

func useURLSessionTaskDelegate(_ it: any URLSessionTaskDelegate) {
    // protocol URLSessionTaskDelegate : URLSessionDelegate
    let _: (any URLSessionTaskDelegate).Type = (any URLSessionTaskDelegate).self
    // func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)
    let _: (URLSession, URLSessionTask) -> Void = it.urlSession(_:didCreateTask:)
    // func urlSession(_ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest, completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)
    let _: (URLSession, URLSessionTask, URLRequest, @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void) -> Void = it.urlSession(_:task:willBeginDelayedRequest:completionHandler:)
    // func urlSession(_ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest) async -> (URLSession.DelayedRequestDisposition, URLRequest?)
    let _: (URLSession, URLSessionTask, URLRequest) async -> (URLSession.DelayedRequestDisposition, URLRequest?) = it.urlSession(_:task:willBeginDelayedRequest:)
    // func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
    let _: (URLSession, URLSessionTask) -> Void = it.urlSession(_:taskIsWaitingForConnectivity:)
    // func urlSession(_ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    let _: (URLSession, URLSessionTask, HTTPURLResponse, URLRequest, @escaping @Sendable (URLRequest?) -> Void) -> Void = it.urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)
    // func urlSession(_ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest) async -> URLRequest?
    let _: (URLSession, URLSessionTask, HTTPURLResponse, URLRequest) async -> URLRequest? = it.urlSession(_:task:willPerformHTTPRedirection:newRequest:)
    // func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge, completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    let _: (URLSession, URLSessionTask, URLAuthenticationChallenge, @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) -> Void = it.urlSession(_:task:didReceive:completionHandler:)
    // func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
    let _: (URLSession, URLSessionTask, URLAuthenticationChallenge) async -> (URLSession.AuthChallengeDisposition, URLCredential?) = it.urlSession(_:task:didReceive:)
    // func urlSession(_ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)
    let _: (URLSession, URLSessionTask, @escaping @Sendable (InputStream?) -> Void) -> Void = it.urlSession(_:task:needNewBodyStream:)
    // func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream?
    let _: (URLSession, URLSessionTask) async -> InputStream? = it.urlSession(_:needNewBodyStreamForTask:)
    // func urlSession(_ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64, totalBytesExpectedToSend: Int64)
    let _: (URLSession, URLSessionTask, Int64, Int64, Int64) -> Void = it.urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)
    // func urlSession(_ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse)
    let _: (URLSession, URLSessionTask, HTTPURLResponse) -> Void = it.urlSession(_:task:didReceiveInformationalResponse:)
    // func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
    let _: (URLSession, URLSessionTask, URLSessionTaskMetrics) -> Void = it.urlSession(_:task:didFinishCollecting:)
    // func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
    let _: (URLSession, URLSessionTask, (any Error)?) -> Void = it.urlSession(_:task:didCompleteWithError:)
    // func urlSession(_ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64, completionHandler: @escaping @Sendable (InputStream?) -> Void)
    let _: (URLSession, URLSessionTask, Int64, @escaping @Sendable (InputStream?) -> Void) -> Void = it.urlSession(_:task:needNewBodyStreamFrom:completionHandler:)
    // func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64) async -> InputStream?
    let _: (URLSession, URLSessionTask, Int64) async -> InputStream? = it.urlSession(_:needNewBodyStreamForTask:from:)
}

func useURLSessionDataDelegate(_ it: any URLSessionDataDelegate) {
    // protocol URLSessionDataDelegate : URLSessionTaskDelegate
    let _: (any URLSessionDataDelegate).Type = (any URLSessionDataDelegate).self
    // func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse, completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
    let _: (URLSession, URLSessionDataTask, URLResponse, @escaping @Sendable (URLSession.ResponseDisposition) -> Void) -> Void = it.urlSession(_:dataTask:didReceive:completionHandler:)
    // func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) async -> URLSession.ResponseDisposition
    let _: (URLSession, URLSessionDataTask, URLResponse) async -> URLSession.ResponseDisposition = it.urlSession(_:dataTask:didReceive:)
    // func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)
    let _: (URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void = it.urlSession(_:dataTask:didBecome:)
    // func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask)
    let _: (URLSession, URLSessionDataTask, URLSessionStreamTask) -> Void = it.urlSession(_:dataTask:didBecome:)
    // func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
    let _: (URLSession, URLSessionDataTask, Data) -> Void = it.urlSession(_:dataTask:didReceive:)
    // func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)
    let _: (URLSession, URLSessionDataTask, CachedURLResponse, @escaping @Sendable (CachedURLResponse?) -> Void) -> Void = it.urlSession(_:dataTask:willCacheResponse:completionHandler:)
    // func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse) async -> CachedURLResponse?
    let _: (URLSession, URLSessionDataTask, CachedURLResponse) async -> CachedURLResponse? = it.urlSession(_:dataTask:willCacheResponse:)
}

func useURLSessionDownloadDelegate(_ it: any URLSessionDownloadDelegate) {
    // protocol URLSessionDownloadDelegate : URLSessionTaskDelegate
    let _: (any URLSessionDownloadDelegate).Type = (any URLSessionDownloadDelegate).self
    // func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
    let _: (URLSession, URLSessionDownloadTask, URL) -> Void = it.urlSession(_:downloadTask:didFinishDownloadingTo:)
    // func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64, totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)
    let _: (URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void = it.urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)
    // func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64)
    let _: (URLSession, URLSessionDownloadTask, Int64, Int64) -> Void = it.urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)
}

func useURLSessionStreamDelegate(_ it: any URLSessionStreamDelegate) {
    // protocol URLSessionStreamDelegate : URLSessionTaskDelegate
    let _: (any URLSessionStreamDelegate).Type = (any URLSessionStreamDelegate).self
    // func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)
    let _: (URLSession, URLSessionStreamTask) -> Void = it.urlSession(_:readClosedFor:)
    // func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)
    let _: (URLSession, URLSessionStreamTask) -> Void = it.urlSession(_:writeClosedFor:)
    // func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)
    let _: (URLSession, URLSessionStreamTask) -> Void = it.urlSession(_:betterRouteDiscoveredFor:)
    // func urlSession(_ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream, outputStream: OutputStream)
    let _: (URLSession, URLSessionStreamTask, InputStream, OutputStream) -> Void = it.urlSession(_:streamTask:didBecome:outputStream:)
}

func useURLSessionWebSocketDelegate(_ it: any URLSessionWebSocketDelegate) {
    // protocol URLSessionWebSocketDelegate : URLSessionTaskDelegate
    let _: (any URLSessionWebSocketDelegate).Type = (any URLSessionWebSocketDelegate).self
    // func urlSession(_ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)
    let _: (URLSession, URLSessionWebSocketTask, String?) -> Void = it.urlSession(_:webSocketTask:didOpenWithProtocol:)
    // func urlSession(_ session: URLSession, webSocketTask: URLSessionWebSocketTask, didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
    let _: (URLSession, URLSessionWebSocketTask, URLSessionWebSocketTask.CloseCode, Data?) -> Void = it.urlSession(_:webSocketTask:didCloseWith:reason:)
}

func useURLSessionTaskMetrics(_ it: URLSessionTaskMetrics) {
    // class URLSessionTaskMetrics : NSObject
    let _: URLSessionTaskMetrics.Type = URLSessionTaskMetrics.self
    // var transactionMetrics: [URLSessionTaskTransactionMetrics] { get }
    let _: [URLSessionTaskTransactionMetrics] = it.transactionMetrics
    // var taskInterval: DateInterval { get }
    let _: DateInterval = it.taskInterval
    // var redirectCount: Int { get }
    let _: Int = it.redirectCount
}

func useURLSessionTaskMetricsResourceFetchType(_ it: URLSessionTaskMetrics.ResourceFetchType) {
    // enum ResourceFetchType : Int
    let _: URLSessionTaskMetrics.ResourceFetchType.Type = URLSessionTaskMetrics.ResourceFetchType.self
    // case unknown
    let _: URLSessionTaskMetrics.ResourceFetchType = .unknown
    // case networkLoad
    let _: URLSessionTaskMetrics.ResourceFetchType = .networkLoad
    // case serverPush
    let _: URLSessionTaskMetrics.ResourceFetchType = .serverPush
    // case localCache
    let _: URLSessionTaskMetrics.ResourceFetchType = .localCache
}

func useURLSessionTaskMetricsDomainResolutionProtocol(_ it: URLSessionTaskMetrics.DomainResolutionProtocol) {
    // enum DomainResolutionProtocol : Int
    let _: URLSessionTaskMetrics.DomainResolutionProtocol.Type = URLSessionTaskMetrics.DomainResolutionProtocol.self
    // case unknown
    let _: URLSessionTaskMetrics.DomainResolutionProtocol = .unknown
    // case udp
    let _: URLSessionTaskMetrics.DomainResolutionProtocol = .udp
    // case tcp
    let _: URLSessionTaskMetrics.DomainResolutionProtocol = .tcp
    // case tls
    let _: URLSessionTaskMetrics.DomainResolutionProtocol = .tls
    // case https
    let _: URLSessionTaskMetrics.DomainResolutionProtocol = .https
}

func useURLSessionTaskTransactionMetrics(_ it: URLSessionTaskTransactionMetrics) {
    // class URLSessionTaskTransactionMetrics : NSObject
    let _: URLSessionTaskTransactionMetrics.Type = URLSessionTaskTransactionMetrics.self
    // var request: URLRequest { get }
    let _: URLRequest = it.request
    // var response: URLResponse? { get }
    let _: URLResponse? = it.response
    // var fetchStartDate: Date? { get }
    let _: Date? = it.fetchStartDate
    // var domainLookupStartDate: Date? { get }
    let _: Date? = it.domainLookupStartDate
    // var domainLookupEndDate: Date? { get }
    let _: Date? = it.domainLookupEndDate
    // var connectStartDate: Date? { get }
    let _: Date? = it.connectStartDate
    // var secureConnectionStartDate: Date? { get }
    let _: Date? = it.secureConnectionStartDate
    // var secureConnectionEndDate: Date? { get }
    let _: Date? = it.secureConnectionEndDate
    // var connectEndDate: Date? { get }
    let _: Date? = it.connectEndDate
    // var requestStartDate: Date? { get }
    let _: Date? = it.requestStartDate
    // var requestEndDate: Date? { get }
    let _: Date? = it.requestEndDate
    // var responseStartDate: Date? { get }
    let _: Date? = it.responseStartDate
    // var responseEndDate: Date? { get }
    let _: Date? = it.responseEndDate
    // var networkProtocolName: String? { get }
    let _: String? = it.networkProtocolName
    // var isProxyConnection: Bool { get }
    let _: Bool = it.isProxyConnection
    // var isReusedConnection: Bool { get }
    let _: Bool = it.isReusedConnection
    // var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType { get }
    let _: URLSessionTaskMetrics.ResourceFetchType = it.resourceFetchType
    // var countOfRequestHeaderBytesSent: Int64 { get }
    let _: Int64 = it.countOfRequestHeaderBytesSent
    // var countOfRequestBodyBytesSent: Int64 { get }
    let _: Int64 = it.countOfRequestBodyBytesSent
    // var countOfRequestBodyBytesBeforeEncoding: Int64 { get }
    let _: Int64 = it.countOfRequestBodyBytesBeforeEncoding
    // var countOfResponseHeaderBytesReceived: Int64 { get }
    let _: Int64 = it.countOfResponseHeaderBytesReceived
    // var countOfResponseBodyBytesReceived: Int64 { get }
    let _: Int64 = it.countOfResponseBodyBytesReceived
    // var countOfResponseBodyBytesAfterDecoding: Int64 { get }
    let _: Int64 = it.countOfResponseBodyBytesAfterDecoding
    // var localAddress: String? { get }
    let _: String? = it.localAddress
    // var localPort: Int? { get }
    let _: String? = it.localPort
    // var remoteAddress: String? { get }
    let _: String? = it.remoteAddress
    // var remotePort: Int? { get }
    let _: String? = it.remotePort
    // var negotiatedTLSProtocolVersion: tls_protocol_version_t? { get }
    let _: tls_protocol_version_t? = it.negotiatedTLSProtocolVersion
    // var negotiatedTLSCipherSuite: tls_ciphersuite_t? { get }
    let _: tls_ciphersuite_t? = it.negotiatedTLSCipherSuite
    // var isCellular: Bool { get }
    let _: Bool = it.isCellular
    // var isExpensive: Bool { get }
    let _: Bool = it.isExpensive
    // var isConstrained: Bool { get }
    let _: Bool = it.isConstrained
    // var isMultipath: Bool { get }
    let _: Bool = it.isMultipath
    // var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { get }
    let _: URLSessionTaskMetrics.DomainResolutionProtocol = it.domainResolutionProtocol
}

func useURLRequest(_ it: URLRequest) {
    var it = it
    // struct URLRequest
    let _: URLRequest.Type = URLRequest.self
    // typealias CachePolicy = NSURLRequest.CachePolicy
    let _: NSURLRequest.CachePolicy.Type = URLRequest.CachePolicy.self
    // typealias NetworkServiceType = NSURLRequest.NetworkServiceType
    let _: NSURLRequest.NetworkServiceType.Type = URLRequest.NetworkServiceType.self
    // typealias Attribution = NSURLRequest.Attribution
    let _: NSURLRequest.Attribution.Type = URLRequest.Attribution.self
    // init(url: URL, cachePolicy: URLRequest.CachePolicy, timeoutInterval: TimeInterval)
    let _: (URL, URLRequest.CachePolicy, TimeInterval) -> URLRequest = URLRequest.init(url:cachePolicy:timeoutInterval:)
    // var url: URL? { get set }
    let _: URL? = it.url
    it.url = same(it.url)
    // var cachePolicy: URLRequest.CachePolicy { get set }
    let _: URLRequest.CachePolicy = it.cachePolicy
    it.cachePolicy = same(it.cachePolicy)
    // var timeoutInterval: TimeInterval { get set }
    let _: TimeInterval = it.timeoutInterval
    it.timeoutInterval = same(it.timeoutInterval)
    // var mainDocumentURL: URL? { get set }
    let _: URL? = it.mainDocumentURL
    it.mainDocumentURL = same(it.mainDocumentURL)
    // var networkServiceType: URLRequest.NetworkServiceType { get set }
    let _: URLRequest.NetworkServiceType = it.networkServiceType
    it.networkServiceType = same(it.networkServiceType)
    // var allowsCellularAccess: Bool { get set }
    let _: Bool = it.allowsCellularAccess
    it.allowsCellularAccess = same(it.allowsCellularAccess)
    // var allowsExpensiveNetworkAccess: Bool { get set }
    let _: Bool = it.allowsExpensiveNetworkAccess
    it.allowsExpensiveNetworkAccess = same(it.allowsExpensiveNetworkAccess)
    // var allowsConstrainedNetworkAccess: Bool { get set }
    let _: Bool = it.allowsConstrainedNetworkAccess
    it.allowsConstrainedNetworkAccess = same(it.allowsConstrainedNetworkAccess)
    // var allowsUltraConstrainedNetworkAccess: Bool { get set }
    let _: Bool = it.allowsUltraConstrainedNetworkAccess
    it.allowsUltraConstrainedNetworkAccess = same(it.allowsUltraConstrainedNetworkAccess)
    // var assumesHTTP3Capable: Bool { get set }
    let _: Bool = it.assumesHTTP3Capable
    it.assumesHTTP3Capable = same(it.assumesHTTP3Capable)
    // var attribution: URLRequest.Attribution { get set }
    let _: URLRequest.Attribution = it.attribution
    it.attribution = same(it.attribution)
    // var requiresDNSSECValidation: Bool { get set }
    let _: Bool = it.requiresDNSSECValidation
    it.requiresDNSSECValidation = same(it.requiresDNSSECValidation)
    // var allowsPersistentDNS: Bool { get set }
    let _: Bool = it.allowsPersistentDNS
    it.allowsPersistentDNS = same(it.allowsPersistentDNS)
    // var cookiePartitionIdentifier: String? { get set }
    let _: String? = it.cookiePartitionIdentifier
    it.cookiePartitionIdentifier = same(it.cookiePartitionIdentifier)
    // var httpMethod: String? { get set }
    let _: String? = it.httpMethod
    it.httpMethod = same(it.httpMethod)
    // var allHTTPHeaderFields: [String: String]? { get set }
    let _: [String: String]? = it.allHTTPHeaderFields
    it.allHTTPHeaderFields = same(it.allHTTPHeaderFields)
    // func value(forHTTPHeaderField field: String) -> String?
    let _: (String) -> String? = it.value(forHTTPHeaderField:)
    // mutating func setValue(_ value: String?, forHTTPHeaderField field: String)
    let _: (inout URLRequest, String?, String) -> Void = { $0.setValue($1, forHTTPHeaderField: $2) }
    // mutating func addValue(_ value: String, forHTTPHeaderField field: String)
    let _: (inout URLRequest, String, String) -> Void = { $0.addValue($1, forHTTPHeaderField: $2) }
    // var httpBody: Data? { get set }
    let _: Data? = it.httpBody
    it.httpBody = same(it.httpBody)
    // var httpBodyStream: InputStream? { get set }
    let _: InputStream? = it.httpBodyStream
    it.httpBodyStream = same(it.httpBodyStream)
    // var httpShouldHandleCookies: Bool { get set }
    let _: Bool = it.httpShouldHandleCookies
    it.httpShouldHandleCookies = same(it.httpShouldHandleCookies)
    // var httpShouldUsePipelining: Bool { get set }
    let _: Bool = it.httpShouldUsePipelining
    it.httpShouldUsePipelining = same(it.httpShouldUsePipelining)
}

func useNSURLRequest(_ it: NSURLRequest) {
    // class NSURLRequest : NSObject, NSSecureCoding, NSCopying, NSMutableCopying
    let _: NSURLRequest.Type = NSURLRequest.self
    // class var supportsSecureCoding: Bool { get }
    let _: Bool = NSURLRequest.supportsSecureCoding
    // init(url: URL)
    let _: (URL) -> NSURLRequest = NSURLRequest.init(url:)
    // init(url: URL, cachePolicy: NSURLRequest.CachePolicy, timeoutInterval: TimeInterval)
    let _: (URL, NSURLRequest.CachePolicy, TimeInterval) -> NSURLRequest = NSURLRequest.init(url:cachePolicy:timeoutInterval:)
    // var url: URL? { get }
    let _: URL? = it.url
    // var cachePolicy: NSURLRequest.CachePolicy { get }
    let _: NSURLRequest.CachePolicy = it.cachePolicy
    // var timeoutInterval: TimeInterval { get }
    let _: TimeInterval = it.timeoutInterval
    // var mainDocumentURL: URL? { get }
    let _: URL? = it.mainDocumentURL
    // var networkServiceType: NSURLRequest.NetworkServiceType { get }
    let _: NSURLRequest.NetworkServiceType = it.networkServiceType
    // var allowsCellularAccess: Bool { get }
    let _: Bool = it.allowsCellularAccess
    // var allowsExpensiveNetworkAccess: Bool { get }
    let _: Bool = it.allowsExpensiveNetworkAccess
    // var allowsConstrainedNetworkAccess: Bool { get }
    let _: Bool = it.allowsConstrainedNetworkAccess
    // var allowsUltraConstrainedNetworkAccess: Bool { get }
    let _: Bool = it.allowsUltraConstrainedNetworkAccess
    // var assumesHTTP3Capable: Bool { get }
    let _: Bool = it.assumesHTTP3Capable
    // var attribution: NSURLRequest.Attribution { get }
    let _: NSURLRequest.Attribution = it.attribution
    // var requiresDNSSECValidation: Bool { get }
    let _: Bool = it.requiresDNSSECValidation
    // var allowsPersistentDNS: Bool { get }
    let _: Bool = it.allowsPersistentDNS
    // var cookiePartitionIdentifier: String? { get }
    let _: String? = it.cookiePartitionIdentifier
    // var httpMethod: String? { get }
    let _: String? = it.httpMethod
    // var allHTTPHeaderFields: [String: String]? { get }
    let _: [String: String]? = it.allHTTPHeaderFields
    // func value(forHTTPHeaderField field: String) -> String?
    let _: (String) -> String? = it.value(forHTTPHeaderField:)
    // var httpBody: Data? { get }
    let _: Data? = it.httpBody
    // var httpBodyStream: InputStream? { get }
    let _: InputStream? = it.httpBodyStream
    // var httpShouldHandleCookies: Bool { get }
    let _: Bool = it.httpShouldHandleCookies
    // var httpShouldUsePipelining: Bool { get }
    let _: Bool = it.httpShouldUsePipelining
}

func useNSMutableURLRequest(_ it: NSMutableURLRequest) {
    // class NSMutableURLRequest : NSURLRequest
    let _: NSMutableURLRequest.Type = NSMutableURLRequest.self
    // var url: URL? { get set }
    let _: URL? = it.url
    it.url = same(it.url)
    // var cachePolicy: NSURLRequest.CachePolicy { get set }
    let _: NSURLRequest.CachePolicy = it.cachePolicy
    it.cachePolicy = same(it.cachePolicy)
    // var timeoutInterval: TimeInterval { get set }
    let _: TimeInterval = it.timeoutInterval
    it.timeoutInterval = same(it.timeoutInterval)
    // var mainDocumentURL: URL? { get set }
    let _: URL? = it.mainDocumentURL
    it.mainDocumentURL = same(it.mainDocumentURL)
    // var networkServiceType: NSURLRequest.NetworkServiceType { get set }
    let _: NSURLRequest.NetworkServiceType = it.networkServiceType
    it.networkServiceType = same(it.networkServiceType)
    // var allowsCellularAccess: Bool { get set }
    let _: Bool = it.allowsCellularAccess
    it.allowsCellularAccess = same(it.allowsCellularAccess)
    // var allowsExpensiveNetworkAccess: Bool { get set }
    let _: Bool = it.allowsExpensiveNetworkAccess
    it.allowsExpensiveNetworkAccess = same(it.allowsExpensiveNetworkAccess)
    // var allowsConstrainedNetworkAccess: Bool { get set }
    let _: Bool = it.allowsConstrainedNetworkAccess
    it.allowsConstrainedNetworkAccess = same(it.allowsConstrainedNetworkAccess)
    // var allowsUltraConstrainedNetworkAccess: Bool { get set }
    let _: Bool = it.allowsUltraConstrainedNetworkAccess
    it.allowsUltraConstrainedNetworkAccess = same(it.allowsUltraConstrainedNetworkAccess)
    // var assumesHTTP3Capable: Bool { get set }
    let _: Bool = it.assumesHTTP3Capable
    it.assumesHTTP3Capable = same(it.assumesHTTP3Capable)
    // var attribution: NSURLRequest.Attribution { get set }
    let _: NSURLRequest.Attribution = it.attribution
    it.attribution = same(it.attribution)
    // var requiresDNSSECValidation: Bool { get set }
    let _: Bool = it.requiresDNSSECValidation
    it.requiresDNSSECValidation = same(it.requiresDNSSECValidation)
    // var allowsPersistentDNS: Bool { get set }
    let _: Bool = it.allowsPersistentDNS
    it.allowsPersistentDNS = same(it.allowsPersistentDNS)
    // var cookiePartitionIdentifier: String? { get set }
    let _: String? = it.cookiePartitionIdentifier
    it.cookiePartitionIdentifier = same(it.cookiePartitionIdentifier)
    // var httpMethod: String { get set }
    let _: String? = it.httpMethod
    it.httpMethod = same(it.httpMethod)
    // var allHTTPHeaderFields: [String: String]? { get set }
    let _: [String: String]? = it.allHTTPHeaderFields
    it.allHTTPHeaderFields = same(it.allHTTPHeaderFields)
    // func setValue(_ value: String?, forHTTPHeaderField field: String)
    let _: (String?, String) -> Void = it.setValue(_:forHTTPHeaderField:)
    // func addValue(_ value: String, forHTTPHeaderField field: String)
    let _: (String, String) -> Void = it.addValue(_:forHTTPHeaderField:)
    // var httpBody: Data? { get set }
    let _: Data? = it.httpBody
    it.httpBody = same(it.httpBody)
    // var httpBodyStream: InputStream? { get set }
    let _: InputStream? = it.httpBodyStream
    it.httpBodyStream = same(it.httpBodyStream)
    // var httpShouldHandleCookies: Bool { get set }
    let _: Bool = it.httpShouldHandleCookies
    it.httpShouldHandleCookies = same(it.httpShouldHandleCookies)
    // var httpShouldUsePipelining: Bool { get set }
    let _: Bool = it.httpShouldUsePipelining
    it.httpShouldUsePipelining = same(it.httpShouldUsePipelining)
}

func useNSURLRequestCachePolicy(_ it: NSURLRequest.CachePolicy) {
    // enum CachePolicy : UInt
    let _: NSURLRequest.CachePolicy.Type = NSURLRequest.CachePolicy.self
    // case useProtocolCachePolicy
    let _: NSURLRequest.CachePolicy = .useProtocolCachePolicy
    // case reloadIgnoringLocalCacheData
    let _: NSURLRequest.CachePolicy = .reloadIgnoringLocalCacheData
    // case reloadIgnoringLocalAndRemoteCacheData
    let _: NSURLRequest.CachePolicy = .reloadIgnoringLocalAndRemoteCacheData
    // static var reloadIgnoringCacheData: NSURLRequest.CachePolicy { get }
    let _: NSURLRequest.CachePolicy = NSURLRequest.CachePolicy.reloadIgnoringCacheData
    // case returnCacheDataElseLoad
    let _: NSURLRequest.CachePolicy = .returnCacheDataElseLoad
    // case returnCacheDataDontLoad
    let _: NSURLRequest.CachePolicy = .returnCacheDataDontLoad
    // case reloadRevalidatingCacheData
    let _: NSURLRequest.CachePolicy = .reloadRevalidatingCacheData
}

func useNSURLRequestNetworkServiceType(_ it: NSURLRequest.NetworkServiceType) {
    // enum NetworkServiceType : UInt
    let _: NSURLRequest.NetworkServiceType.Type = NSURLRequest.NetworkServiceType.self
    // case default
    let _: NSURLRequest.NetworkServiceType = .default
    // case voip
    let _: NSURLRequest.NetworkServiceType = .voip
    // case video
    let _: NSURLRequest.NetworkServiceType = .video
    // case background
    let _: NSURLRequest.NetworkServiceType = .background
    // case voice
    let _: NSURLRequest.NetworkServiceType = .voice
    // case responsiveData
    let _: NSURLRequest.NetworkServiceType = .responsiveData
    // case avStreaming
    let _: NSURLRequest.NetworkServiceType = .avStreaming
    // case responsiveAV
    let _: NSURLRequest.NetworkServiceType = .responsiveAV
    // case callSignaling
    let _: NSURLRequest.NetworkServiceType = .networkServiceTypeCallSignaling
}

func useNSURLRequestAttribution(_ it: NSURLRequest.Attribution) {
    // enum Attribution : UInt
    let _: NSURLRequest.Attribution.Type = NSURLRequest.Attribution.self
    // case developer
    let _: NSURLRequest.Attribution = .developer
    // case user
    let _: NSURLRequest.Attribution = .user
}

func useURLResponse(_ it: URLResponse) {
    // class URLResponse : NSObject, NSSecureCoding, NSCopying
    let _: URLResponse.Type = URLResponse.self
    // init(url: URL, mimeType: String?, expectedContentLength length: Int, textEncodingName name: String?)
    let _: (URL, String?, Int, String?) -> URLResponse = URLResponse.init(url:mimeType:expectedContentLength:textEncodingName:)
    // var url: URL? { get }
    let _: URL? = it.url
    // var mimeType: String? { get }
    let _: String? = it.mimeType
    // var expectedContentLength: Int64 { get }
    let _: Int64 = it.expectedContentLength
    // var textEncodingName: String? { get }
    let _: String? = it.textEncodingName
    // var suggestedFilename: String? { get }
    let _: String? = it.suggestedFilename
}

func useHTTPURLResponse(_ it: HTTPURLResponse) {
    // class HTTPURLResponse : URLResponse
    let _: HTTPURLResponse.Type = HTTPURLResponse.self
    // init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?)
    let _: (URL, Int, String?, [String: String]?) -> HTTPURLResponse? = HTTPURLResponse.init(url:statusCode:httpVersion:headerFields:)
    // var statusCode: Int { get }
    let _: Int = it.statusCode
    // var allHeaderFields: [AnyHashable: Any] { get }
    let _: [AnyHashable: Any] = it.allHeaderFields
    // func value(forHTTPHeaderField field: String) -> String?
    let _: (String) -> String? = it.value(forHTTPHeaderField:)
    // class func localizedString(forStatusCode statusCode: Int) -> String
    let _: (Int) -> String = HTTPURLResponse.localizedString(forStatusCode:)
}

func useURLCache(_ it: URLCache) {
    // class URLCache : NSObject
    let _: URLCache.Type = URLCache.self
    // class var shared: URLCache { get set }
    let _: URLCache = URLCache.shared
    URLCache.shared = same(URLCache.shared)
    // init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?)
    let _: (Int, Int, String?) -> URLCache = URLCache.init(memoryCapacity:diskCapacity:diskPath:)
    // init(memoryCapacity: Int, diskCapacity: Int, directory: URL?)
    let _: (Int, Int, URL?) -> URLCache = URLCache.init(memoryCapacity:diskCapacity:directory:)
    // func cachedResponse(for request: URLRequest) -> CachedURLResponse?
    let _: (URLRequest) -> CachedURLResponse? = it.cachedResponse(for:)
    // func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest)
    let _: (CachedURLResponse, URLRequest) -> Void = it.storeCachedResponse(_:for:)
    // func removeCachedResponse(for request: URLRequest)
    let _: (URLRequest) -> Void = it.removeCachedResponse(for:)
    // func removeAllCachedResponses()
    let _: () -> Void = it.removeAllCachedResponses
    // func removeCachedResponses(since date: Date)
    let _: (Date) -> Void = it.removeCachedResponses(since:)
    // var memoryCapacity: Int { get set }
    let _: Int = it.memoryCapacity
    it.memoryCapacity = same(it.memoryCapacity)
    // var diskCapacity: Int { get set }
    let _: Int = it.diskCapacity
    it.diskCapacity = same(it.diskCapacity)
    // var currentMemoryUsage: Int { get }
    let _: Int = it.currentMemoryUsage
    // var currentDiskUsage: Int { get }
    let _: Int = it.currentDiskUsage
    // func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask)
    let _: (CachedURLResponse, URLSessionDataTask) -> Void = it.storeCachedResponse(_:for:)
    // func getCachedResponse(for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)
    let _: (URLSessionDataTask, @escaping @Sendable (CachedURLResponse?) -> Void) -> Void = it.getCachedResponse(for:completionHandler:)
    // func cachedResponse(for dataTask: URLSessionDataTask) async -> CachedURLResponse?
    let _: (URLSessionDataTask) async -> CachedURLResponse? = it.cachedResponse(for:)
    // func removeCachedResponse(for dataTask: URLSessionDataTask)
    let _: (URLSessionDataTask) -> Void = it.removeCachedResponse(for:)
}

func useURLCacheStoragePolicy(_ it: URLCache.StoragePolicy) {
    // enum StoragePolicy : UInt
    let _: URLCache.StoragePolicy.Type = URLCache.StoragePolicy.self
    // case allowed
    let _: URLCache.StoragePolicy = .allowed
    // case allowedInMemoryOnly
    let _: URLCache.StoragePolicy = .allowedInMemoryOnly
    // case notAllowed
    let _: URLCache.StoragePolicy = .notAllowed
}

func useCachedURLResponse(_ it: CachedURLResponse) {
    // class CachedURLResponse : NSObject, NSSecureCoding, NSCopying
    let _: CachedURLResponse.Type = CachedURLResponse.self
    // init(response: URLResponse, data: Data)
    let _: (URLResponse, Data) -> CachedURLResponse = CachedURLResponse.init(response:data:)
    // init(response: URLResponse, data: Data, userInfo: [AnyHashable: Any]?, storagePolicy: URLCache.StoragePolicy)
    let _: (URLResponse, Data, [AnyHashable: Any]?, URLCache.StoragePolicy) -> CachedURLResponse = CachedURLResponse.init(response:data:userInfo:storagePolicy:)
    // var response: URLResponse { get }
    let _: URLResponse = it.response
    // var data: Data { get }
    let _: Data = it.data
    // var userInfo: [AnyHashable: Any]? { get }
    let _: [AnyHashable: Any]? = it.userInfo
    // var storagePolicy: URLCache.StoragePolicy { get }
    let _: URLCache.StoragePolicy = it.storagePolicy
}

func useHTTPCookie(_ it: HTTPCookie) {
    // class HTTPCookie : NSObject
    let _: HTTPCookie.Type = HTTPCookie.self
    // init?(properties: [HTTPCookiePropertyKey: Any])
    let _: ([HTTPCookiePropertyKey: Any]) -> HTTPCookie? = HTTPCookie.init(properties:)
    // class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String]
    let _: ([HTTPCookie]) -> [String: String] = HTTPCookie.requestHeaderFields(with:)
    // class func cookies(withResponseHeaderFields headerFields: [String: String], for URL: URL) -> [HTTPCookie]
    let _: ([String: String], URL) -> [HTTPCookie] = HTTPCookie.cookies(withResponseHeaderFields:for:)
    // var properties: [HTTPCookiePropertyKey: Any]? { get }
    let _: [HTTPCookiePropertyKey: Any]? = it.properties
    // var version: Int { get }
    let _: Int = it.version
    // var name: String { get }
    let _: String = it.name
    // var value: String { get }
    let _: String = it.value
    // var expiresDate: Date? { get }
    let _: Date? = it.expiresDate
    // var isSessionOnly: Bool { get }
    let _: Bool = it.isSessionOnly
    // var domain: String { get }
    let _: String = it.domain
    // var path: String { get }
    let _: String = it.path
    // var isSecure: Bool { get }
    let _: Bool = it.isSecure
    // var isHTTPOnly: Bool { get }
    let _: Bool = it.isHTTPOnly
    // var comment: String? { get }
    let _: String? = it.comment
    // var commentURL: URL? { get }
    let _: URL? = it.commentURL
    // var portList: [NSNumber]? { get }
    let _: [NSNumber]? = it.portList
    // var sameSitePolicy: HTTPCookieStringPolicy? { get }
    let _: HTTPCookieStringPolicy? = it.sameSitePolicy
}

func useHTTPCookieAcceptPolicy(_ it: HTTPCookie.AcceptPolicy) {
    // enum AcceptPolicy : UInt
    let _: HTTPCookie.AcceptPolicy.Type = HTTPCookie.AcceptPolicy.self
    // case always
    let _: HTTPCookie.AcceptPolicy = .always
    // case never
    let _: HTTPCookie.AcceptPolicy = .never
    // case onlyFromMainDocumentDomain
    let _: HTTPCookie.AcceptPolicy = .onlyFromMainDocumentDomain
}

func useHTTPCookiePropertyKey(_ it: HTTPCookiePropertyKey) {
    // struct HTTPCookiePropertyKey : RawRepresentable
    let _: HTTPCookiePropertyKey.Type = HTTPCookiePropertyKey.self
    // init(_ rawValue: String)
    let _: (String) -> HTTPCookiePropertyKey = HTTPCookiePropertyKey.init(_:)
    // init(rawValue: String)
    let _: (String) -> HTTPCookiePropertyKey = HTTPCookiePropertyKey.init(rawValue:)
    // static let name: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.name
    // static let value: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.value
    // static let originURL: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.originURL
    // static let version: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.version
    // static let domain: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.domain
    // static let path: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.path
    // static let secure: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.secure
    // static let expires: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.expires
    // static let comment: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.comment
    // static let commentURL: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.commentURL
    // static let discard: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.discard
    // static let maximumAge: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.maximumAge
    // static let port: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.port
    // static let sameSitePolicy: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.sameSitePolicy
    // static let setByJavaScript: HTTPCookiePropertyKey
    let _: HTTPCookiePropertyKey = HTTPCookiePropertyKey.setByJavaScript
}

func useHTTPCookieStringPolicy(_ it: HTTPCookieStringPolicy) {
    // struct HTTPCookieStringPolicy : RawRepresentable
    let _: HTTPCookieStringPolicy.Type = HTTPCookieStringPolicy.self
    // init(rawValue: String)
    let _: (String) -> HTTPCookieStringPolicy = HTTPCookieStringPolicy.init(rawValue:)
    // static let sameSiteLax: HTTPCookieStringPolicy
    let _: HTTPCookieStringPolicy = HTTPCookieStringPolicy.sameSiteLax
    // static let sameSiteStrict: HTTPCookieStringPolicy
    let _: HTTPCookieStringPolicy = HTTPCookieStringPolicy.sameSiteStrict
}

func useHTTPCookieStorage(_ it: HTTPCookieStorage) {
    // class HTTPCookieStorage : NSObject
    let _: HTTPCookieStorage.Type = HTTPCookieStorage.self
    // class var shared: HTTPCookieStorage { get }
    let _: HTTPCookieStorage = HTTPCookieStorage.shared
    // class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage
    let _: (String) -> HTTPCookieStorage = HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier:)
    // var cookies: [HTTPCookie]? { get }
    let _: [HTTPCookie]? = it.cookies
    // func setCookie(_ cookie: HTTPCookie)
    let _: (HTTPCookie) -> Void = it.setCookie(_:)
    // func deleteCookie(_ cookie: HTTPCookie)
    let _: (HTTPCookie) -> Void = it.deleteCookie(_:)
    // func removeCookies(since date: Date)
    let _: (Date) -> Void = it.removeCookies(since:)
    // func cookies(for URL: URL) -> [HTTPCookie]?
    let _: (URL) -> [HTTPCookie]? = it.cookies(for:)
    // func setCookies(_ cookies: [HTTPCookie], for URL: URL?, mainDocumentURL: URL?)
    let _: ([HTTPCookie], URL?, URL?) -> Void = it.setCookies(_:for:mainDocumentURL:)
    // var cookieAcceptPolicy: HTTPCookie.AcceptPolicy { get set }
    let _: HTTPCookie.AcceptPolicy = it.cookieAcceptPolicy
    it.cookieAcceptPolicy = same(it.cookieAcceptPolicy)
    // func sortedCookies(using sortOrder: [NSSortDescriptor]) -> [HTTPCookie]
    let _: ([NSSortDescriptor]) -> [HTTPCookie] = it.sortedCookies(using:)
    // func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask)
    let _: ([HTTPCookie], URLSessionTask) -> Void = it.storeCookies(_:for:)
    // func getCookiesFor(_ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void)
    let _: (URLSessionTask, @escaping @Sendable ([HTTPCookie]?) -> Void) -> Void = it.getCookiesFor(_:completionHandler:)
    // func cookies(for task: URLSessionTask) async -> [HTTPCookie]?
    let _: (URLSessionTask) async -> [HTTPCookie]? = it.cookies(for:)
    // static let NSHTTPCookieManagerAcceptPolicyChanged: NSNotification.Name @ NSNotification.Name
    let _: NSNotification.Name = NSNotification.Name.NSHTTPCookieManagerAcceptPolicyChanged
    // static let NSHTTPCookieManagerCookiesChanged: NSNotification.Name @ NSNotification.Name
    let _: NSNotification.Name = NSNotification.Name.NSHTTPCookieManagerCookiesChanged
}

func useURLCredential(_ it: URLCredential) {
    // class URLCredential : NSObject, NSSecureCoding, NSCopying
    let _: URLCredential.Type = URLCredential.self
    // init(user: String, password: String, persistence: URLCredential.Persistence)
    let _: (String, String, URLCredential.Persistence) -> URLCredential = URLCredential.init(user:password:persistence:)
    // init(identity: SecIdentity, certificates: [Any]?, persistence: URLCredential.Persistence)
    let _: (ClientIdentity, [X509Certificate]?, URLCredential.Persistence) -> URLCredential = URLCredential.init(identity:certificates:persistence:)
    // init(trust: SecTrust)
    let _: (ServerTrust) -> URLCredential = URLCredential.init(trust:)
    // var persistence: URLCredential.Persistence { get }
    let _: URLCredential.Persistence = it.persistence
    // var user: String? { get }
    let _: String? = it.user
    // var password: String? { get }
    let _: String? = it.password
    // var hasPassword: Bool { get }
    let _: Bool = it.hasPassword
    // var identity: SecIdentity? { get }
    let _: ClientIdentity? = it.identity
    // var certificates: [Any] { get }
    let _: [X509Certificate] = it.certificates
}

func useURLCredentialPersistence(_ it: URLCredential.Persistence) {
    // enum Persistence : UInt
    let _: URLCredential.Persistence.Type = URLCredential.Persistence.self
    // case none
    let _: URLCredential.Persistence = .none
    // case forSession
    let _: URLCredential.Persistence = .forSession
    // case permanent
    let _: URLCredential.Persistence = .permanent
    // case synchronizable
    let _: URLCredential.Persistence = .synchronizable
}

func useURLCredentialStorage(_ it: URLCredentialStorage) {
    // class URLCredentialStorage : NSObject
    let _: URLCredentialStorage.Type = URLCredentialStorage.self
    // class var shared: URLCredentialStorage { get }
    let _: URLCredentialStorage = URLCredentialStorage.shared
    // func credentials(for space: URLProtectionSpace) -> [String: URLCredential]?
    let _: (URLProtectionSpace) -> [String: URLCredential]? = it.credentials(for:)
    // var allCredentials: [URLProtectionSpace: [String: URLCredential]] { get }
    let _: [URLProtectionSpace: [String: URLCredential]] = it.allCredentials
    // func set(_ credential: URLCredential, for space: URLProtectionSpace)
    let _: (URLCredential, URLProtectionSpace) -> Void = it.set(_:for:)
    // func remove(_ credential: URLCredential, for space: URLProtectionSpace)
    let _: (URLCredential, URLProtectionSpace) -> Void = it.remove(_:for:)
    // func remove(_ credential: URLCredential, for space: URLProtectionSpace, options: [String: Any]?)
    let _: (URLCredential, URLProtectionSpace, [String: AnyObject]?) -> Void = it.remove(_:for:options:)
    // func defaultCredential(for space: URLProtectionSpace) -> URLCredential?
    let _: (URLProtectionSpace) -> URLCredential? = it.defaultCredential(for:)
    // func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace)
    let _: (URLCredential, URLProtectionSpace) -> Void = it.setDefaultCredential(_:for:)
    // func getCredentials(for protectionSpace: URLProtectionSpace, task: URLSessionTask, completionHandler: @escaping @Sendable ([String: URLCredential]?) -> Void)
    let _: (URLProtectionSpace, URLSessionTask, @escaping @Sendable ([String: URLCredential]?) -> Void) -> Void = it.getCredentials(for:task:completionHandler:)
    // func credentials(for protectionSpace: URLProtectionSpace, task: URLSessionTask) async -> [String: URLCredential]?
    let _: (URLProtectionSpace, URLSessionTask) async -> [String: URLCredential]? = it.credentials(for:task:)
    // func set(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask)
    let _: (URLCredential, URLProtectionSpace, URLSessionTask) -> Void = it.set(_:for:task:)
    // func remove(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, options: [String: Any]?, task: URLSessionTask)
    let _: (URLCredential, URLProtectionSpace, [String: AnyObject]?, URLSessionTask) -> Void = it.remove(_:for:options:task:)
    // func getDefaultCredential(for space: URLProtectionSpace, task: URLSessionTask, completionHandler: @escaping @Sendable (URLCredential?) -> Void)
    let _: (URLProtectionSpace, URLSessionTask, @escaping @Sendable (URLCredential?) -> Void) -> Void = it.getDefaultCredential(for:task:completionHandler:)
    // func defaultCredential(for space: URLProtectionSpace, task: URLSessionTask) async -> URLCredential?
    let _: (URLProtectionSpace, URLSessionTask) async -> URLCredential? = it.defaultCredential(for:task:)
    // func setDefaultCredential(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask)
    let _: (URLCredential, URLProtectionSpace, URLSessionTask) -> Void = it.setDefaultCredential(_:for:task:)
    // static let NSURLCredentialStorageChanged: NSNotification.Name @ NSNotification.Name
    let _: NSNotification.Name = NSNotification.Name.NSURLCredentialStorageChanged
    // let NSURLCredentialStorageRemoveSynchronizableCredentials: String
    let _: String = NSURLCredentialStorageRemoveSynchronizableCredentials
}

func useURLProtectionSpace(_ it: URLProtectionSpace) {
    // class URLProtectionSpace : NSObject, NSSecureCoding, NSCopying
    let _: URLProtectionSpace.Type = URLProtectionSpace.self
    // init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?)
    let _: (String, Int, String?, String?, String?) -> URLProtectionSpace = URLProtectionSpace.init(host:port:protocol:realm:authenticationMethod:)
    // init(proxyHost host: String, port: Int, type: String?, realm: String?, authenticationMethod: String?)
    let _: (String, Int, String?, String?, String?) -> URLProtectionSpace = URLProtectionSpace.init(proxyHost:port:type:realm:authenticationMethod:)
    // var realm: String? { get }
    let _: String? = it.realm
    // var receivesCredentialSecurely: Bool { get }
    let _: Bool = it.receivesCredentialSecurely
    // func isProxy() -> Bool
    let _: () -> Bool = it.isProxy
    // var host: String { get }
    let _: String = it.host
    // var port: Int { get }
    let _: Int = it.port
    // var proxyType: String? { get }
    let _: String? = it.proxyType
    // var protocol: String? { get }
    let _: String? = it.protocol
    // var authenticationMethod: String { get }
    let _: String = it.authenticationMethod
    // var distinguishedNames: [Data]? { get }
    let _: [Data]? = it.distinguishedNames
    // var serverTrust: SecTrust? { get }
    let _: ServerTrust? = it.serverTrust
    // let NSURLProtectionSpaceHTTP: String
    let _: String = NSURLProtectionSpaceHTTP
    // let NSURLProtectionSpaceHTTPS: String
    let _: String = NSURLProtectionSpaceHTTPS
    // let NSURLProtectionSpaceFTP: String
    let _: String = NSURLProtectionSpaceFTP
    // let NSURLProtectionSpaceHTTPProxy: String
    let _: String = NSURLProtectionSpaceHTTPProxy
    // let NSURLProtectionSpaceHTTPSProxy: String
    let _: String = NSURLProtectionSpaceHTTPSProxy
    // let NSURLProtectionSpaceFTPProxy: String
    let _: String = NSURLProtectionSpaceFTPProxy
    // let NSURLProtectionSpaceSOCKSProxy: String
    let _: String = NSURLProtectionSpaceSOCKSProxy
    // let NSURLAuthenticationMethodDefault: String
    let _: String = NSURLAuthenticationMethodDefault
    // let NSURLAuthenticationMethodHTTPBasic: String
    let _: String = NSURLAuthenticationMethodHTTPBasic
    // let NSURLAuthenticationMethodHTTPDigest: String
    let _: String = NSURLAuthenticationMethodHTTPDigest
    // let NSURLAuthenticationMethodHTMLForm: String
    let _: String = NSURLAuthenticationMethodHTMLForm
    // let NSURLAuthenticationMethodNTLM: String
    let _: String = NSURLAuthenticationMethodNTLM
    // let NSURLAuthenticationMethodNegotiate: String
    let _: String = NSURLAuthenticationMethodNegotiate
    // let NSURLAuthenticationMethodClientCertificate: String
    let _: String = NSURLAuthenticationMethodClientCertificate
    // let NSURLAuthenticationMethodServerTrust: String
    let _: String = NSURLAuthenticationMethodServerTrust
}

func useURLAuthenticationChallenge(_ it: URLAuthenticationChallenge) {
    // class URLAuthenticationChallenge : NSObject
    let _: URLAuthenticationChallenge.Type = URLAuthenticationChallenge.self
    // init(protectionSpace space: URLProtectionSpace, proposedCredential credential: URLCredential?, previousFailureCount: Int, failureResponse response: URLResponse?, error: (any Error)?, sender: any URLAuthenticationChallengeSender)
    let _: (URLProtectionSpace, URLCredential?, Int, URLResponse?, (any Error)?, any URLAuthenticationChallengeSender) -> URLAuthenticationChallenge = URLAuthenticationChallenge.init(protectionSpace:proposedCredential:previousFailureCount:failureResponse:error:sender:)
    // init(authenticationChallenge challenge: URLAuthenticationChallenge, sender: any URLAuthenticationChallengeSender)
    let _: (URLAuthenticationChallenge, any URLAuthenticationChallengeSender) -> URLAuthenticationChallenge = URLAuthenticationChallenge.init(authenticationChallenge:sender:)
    // var protectionSpace: URLProtectionSpace { get }
    let _: URLProtectionSpace = it.protectionSpace
    // var proposedCredential: URLCredential? { get }
    let _: URLCredential? = it.proposedCredential
    // var previousFailureCount: Int { get }
    let _: Int = it.previousFailureCount
    // var failureResponse: URLResponse? { get }
    let _: URLResponse? = it.failureResponse
    // var error: (any Error)? { get }
    let _: (any Error)? = it.error
    // var sender: (any URLAuthenticationChallengeSender)? { get }
    let _: (any URLAuthenticationChallengeSender)? = it.sender
}

func useURLAuthenticationChallengeSender(_ it: any URLAuthenticationChallengeSender) {
    // protocol URLAuthenticationChallengeSender : NSObjectProtocol, Sendable
    let _: (any URLAuthenticationChallengeSender).Type = (any URLAuthenticationChallengeSender).self
    // func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
    let _: (URLCredential, URLAuthenticationChallenge) -> Void = it.use(_:for:)
    // func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
    let _: (URLAuthenticationChallenge) -> Void = it.continueWithoutCredential(for:)
    // func cancel(_ challenge: URLAuthenticationChallenge)
    let _: (URLAuthenticationChallenge) -> Void = it.cancel(_:)
    // func performDefaultHandling(for challenge: URLAuthenticationChallenge)
    let _: (URLAuthenticationChallenge) -> Void = it.performDefaultHandling(for:)
    // func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
    let _: (URLAuthenticationChallenge) -> Void = it.rejectProtectionSpaceAndContinue(with:)
}

func useURLProtocol(_ it: URLProtocol) {
    // class URLProtocol : NSObject
    let _: URLProtocol.Type = URLProtocol.self
    // init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?)
    let _: (URLRequest, CachedURLResponse?, (any URLProtocolClient)?) -> URLProtocol = URLProtocol.init(request:cachedResponse:client:)
    // init(task: URLSessionTask, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?)
    let _: (URLSessionTask, CachedURLResponse?, (any URLProtocolClient)?) -> URLProtocol = URLProtocol.init(task:cachedResponse:client:)
    // var client: (any URLProtocolClient)? { get }
    let _: (any URLProtocolClient)? = it.client
    // var request: URLRequest { get }
    let _: URLRequest = it.request
    // var cachedResponse: CachedURLResponse? { get }
    let _: CachedURLResponse? = it.cachedResponse
    // var task: URLSessionTask? { get }
    let _: URLSessionTask? = it.task
    // class func canInit(with request: URLRequest) -> Bool
    let _: (URLRequest) -> Bool = URLProtocol.canInit(with:)
    // class func canInit(with task: URLSessionTask) -> Bool
    let _: (URLSessionTask) -> Bool = URLProtocol.canInit(with:)
    // class func canonicalRequest(for request: URLRequest) -> URLRequest
    let _: (URLRequest) -> URLRequest = URLProtocol.canonicalRequest(for:)
    // class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool
    let _: (URLRequest, URLRequest) -> Bool = URLProtocol.requestIsCacheEquivalent(_:to:)
    // func startLoading()
    let _: () -> Void = it.startLoading
    // func stopLoading()
    let _: () -> Void = it.stopLoading
    // class func property(forKey key: String, in request: URLRequest) -> Any?
    let _: (String, URLRequest) -> Any? = URLProtocol.property(forKey:in:)
    // class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest)
    let _: (Any, String, NSMutableURLRequest) -> Void = URLProtocol.setProperty(_:forKey:in:)
    // class func removeProperty(forKey key: String, in request: NSMutableURLRequest)
    let _: (String, NSMutableURLRequest) -> Void = URLProtocol.removeProperty(forKey:in:)
    // class func registerClass(_ protocolClass: AnyClass) -> Bool
    let _: (AnyClass) -> Bool = URLProtocol.registerClass(_:)
    // class func unregisterClass(_ protocolClass: AnyClass)
    let _: (AnyClass) -> Void = URLProtocol.unregisterClass(_:)
}

func useURLProtocolClient(_ it: any URLProtocolClient) {
    // protocol URLProtocolClient : NSObjectProtocol
    let _: (any URLProtocolClient).Type = (any URLProtocolClient).self
    // func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)
    let _: (URLProtocol, URLRequest, URLResponse) -> Void = it.urlProtocol(_:wasRedirectedTo:redirectResponse:)
    // func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)
    let _: (URLProtocol, CachedURLResponse) -> Void = it.urlProtocol(_:cachedResponseIsValid:)
    // func urlProtocol(_ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy)
    let _: (URLProtocol, URLResponse, URLCache.StoragePolicy) -> Void = it.urlProtocol(_:didReceive:cacheStoragePolicy:)
    // func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
    let _: (URLProtocol, Data) -> Void = it.urlProtocol(_:didLoad:)
    // func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
    let _: (URLProtocol) -> Void = it.urlProtocolDidFinishLoading(_:)
    // func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)
    let _: (URLProtocol, any Error) -> Void = it.urlProtocol(_:didFailWithError:)
    // func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)
    let _: (URLProtocol, URLAuthenticationChallenge) -> Void = it.urlProtocol(_:didReceive:)
    // func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
    let _: (URLProtocol, URLAuthenticationChallenge) -> Void = it.urlProtocol(_:didCancel:)
}

func useURLError(_ it: URLError) {
    // struct URLError
    let _: URLError.Type = URLError.self
    // var failingURL: URL? { get }
    let _: URL? = it.failingURL
    // var failureURLPeerTrust: SecTrust? { get }
    let _: ServerTrust? = it.failureURLPeerTrust
    // var downloadTaskResumeData: Data? { get }
    let _: Data? = it.downloadTaskResumeData
    // var networkUnavailableReason: URLError.NetworkUnavailableReason? { get }
    let _: URLError.NetworkUnavailableReason? = it.networkUnavailableReason
    // var backgroundTaskCancelledReason: URLError.BackgroundTaskCancelledReason? { get }
    let _: URLError.BackgroundTaskCancelledReason? = it.backgroundTaskCancelledReason
    // let NSURLErrorDomain: String
    let _: String = NSURLErrorDomain
    // let NSURLErrorFailingURLErrorKey: String
    let _: String = NSURLErrorFailingURLErrorKey
    // let NSURLErrorFailingURLPeerTrustErrorKey: String
    let _: String = NSURLErrorFailingURLPeerTrustErrorKey
    // let NSURLErrorBackgroundTaskCancelledReasonKey: String
    let _: String = NSURLErrorBackgroundTaskCancelledReasonKey
    // let NSURLErrorNetworkUnavailableReasonKey: String
    let _: String = NSURLErrorNetworkUnavailableReasonKey
    // var uploadTaskResumeData: Data? { get }
    let _: Data? = it.uploadTaskResumeData
}

@available(*, deprecated)
func useURLErrorDeprecated(_ it: URLError) {
    // var failureURLString: String? { get }
    let _: String? = it.failureURLString
    // let NSURLErrorFailingURLStringErrorKey: String
    let _: String = NSURLErrorFailingURLStringErrorKey
}

func useURLErrorNetworkUnavailableReason(_ it: URLError.NetworkUnavailableReason) {
    // enum NetworkUnavailableReason : Int
    let _: URLError.NetworkUnavailableReason.Type = URLError.NetworkUnavailableReason.self
    // case cellular
    let _: URLError.NetworkUnavailableReason = .cellular
    // case expensive
    let _: URLError.NetworkUnavailableReason = .expensive
    // case constrained
    let _: URLError.NetworkUnavailableReason = .constrained
    // case ultraConstrained
    let _: URLError.NetworkUnavailableReason = .ultraConstrained
}

func useURLErrorBackgroundTaskCancelledReason(_ it: URLError.BackgroundTaskCancelledReason) {
    // enum BackgroundTaskCancelledReason : Int
    let _: URLError.BackgroundTaskCancelledReason.Type = URLError.BackgroundTaskCancelledReason.self
    // case userForceQuitApplication
    let _: URLError.BackgroundTaskCancelledReason = .userForceQuitApplication
    // case backgroundUpdatesDisabled
    let _: URLError.BackgroundTaskCancelledReason = .backgroundUpdatesDisabled
    // case insufficientSystemResources
    let _: URLError.BackgroundTaskCancelledReason = .insufficientSystemResources
}

func useURLErrorCode(_ it: URLError.Code) {
    // struct Code : RawRepresentable
    let _: URLError.Code.Type = URLError.Code.self
    // init(rawValue: Int)
    let _: (Int) -> URLError.Code? = URLError.Code.init(rawValue:)
    // static var unknown: URLError.Code { get }
    let _: URLError.Code = URLError.Code.unknown
    // static var cancelled: URLError.Code { get }
    let _: URLError.Code = URLError.Code.cancelled
    // static var badURL: URLError.Code { get }
    let _: URLError.Code = URLError.Code.badURL
    // static var timedOut: URLError.Code { get }
    let _: URLError.Code = URLError.Code.timedOut
    // static var unsupportedURL: URLError.Code { get }
    let _: URLError.Code = URLError.Code.unsupportedURL
    // static var cannotFindHost: URLError.Code { get }
    let _: URLError.Code = URLError.Code.cannotFindHost
    // static var cannotConnectToHost: URLError.Code { get }
    let _: URLError.Code = URLError.Code.cannotConnectToHost
    // static var networkConnectionLost: URLError.Code { get }
    let _: URLError.Code = URLError.Code.networkConnectionLost
    // static var dnsLookupFailed: URLError.Code { get }
    let _: URLError.Code = URLError.Code.dnsLookupFailed
    // static var httpTooManyRedirects: URLError.Code { get }
    let _: URLError.Code = URLError.Code.httpTooManyRedirects
    // static var resourceUnavailable: URLError.Code { get }
    let _: URLError.Code = URLError.Code.resourceUnavailable
    // static var notConnectedToInternet: URLError.Code { get }
    let _: URLError.Code = URLError.Code.notConnectedToInternet
    // static var redirectToNonExistentLocation: URLError.Code { get }
    let _: URLError.Code = URLError.Code.redirectToNonExistentLocation
    // static var badServerResponse: URLError.Code { get }
    let _: URLError.Code = URLError.Code.badServerResponse
    // static var userCancelledAuthentication: URLError.Code { get }
    let _: URLError.Code = URLError.Code.userCancelledAuthentication
    // static var userAuthenticationRequired: URLError.Code { get }
    let _: URLError.Code = URLError.Code.userAuthenticationRequired
    // static var zeroByteResource: URLError.Code { get }
    let _: URLError.Code = URLError.Code.zeroByteResource
    // static var cannotDecodeRawData: URLError.Code { get }
    let _: URLError.Code = URLError.Code.cannotDecodeRawData
    // static var cannotDecodeContentData: URLError.Code { get }
    let _: URLError.Code = URLError.Code.cannotDecodeContentData
    // static var cannotParseResponse: URLError.Code { get }
    let _: URLError.Code = URLError.Code.cannotParseResponse
    // static var appTransportSecurityRequiresSecureConnection: URLError.Code { get }
    let _: URLError.Code = URLError.Code.appTransportSecurityRequiresSecureConnection
    // static var fileDoesNotExist: URLError.Code { get }
    let _: URLError.Code = URLError.Code.fileDoesNotExist
    // static var fileIsDirectory: URLError.Code { get }
    let _: URLError.Code = URLError.Code.fileIsDirectory
    // static var noPermissionsToReadFile: URLError.Code { get }
    let _: URLError.Code = URLError.Code.noPermissionsToReadFile
    // static var dataLengthExceedsMaximum: URLError.Code { get }
    let _: URLError.Code = URLError.Code.dataLengthExceedsMaximum
    // static var secureConnectionFailed: URLError.Code { get }
    let _: URLError.Code = URLError.Code.secureConnectionFailed
    // static var serverCertificateHasBadDate: URLError.Code { get }
    let _: URLError.Code = URLError.Code.serverCertificateHasBadDate
    // static var serverCertificateUntrusted: URLError.Code { get }
    let _: URLError.Code = URLError.Code.serverCertificateUntrusted
    // static var serverCertificateHasUnknownRoot: URLError.Code { get }
    let _: URLError.Code = URLError.Code.serverCertificateHasUnknownRoot
    // static var serverCertificateNotYetValid: URLError.Code { get }
    let _: URLError.Code = URLError.Code.serverCertificateNotYetValid
    // static var clientCertificateRejected: URLError.Code { get }
    let _: URLError.Code = URLError.Code.clientCertificateRejected
    // static var clientCertificateRequired: URLError.Code { get }
    let _: URLError.Code = URLError.Code.clientCertificateRequired
    // static var cannotLoadFromNetwork: URLError.Code { get }
    let _: URLError.Code = URLError.Code.cannotLoadFromNetwork
    // static var cannotCreateFile: URLError.Code { get }
    let _: URLError.Code = URLError.Code.cannotCreateFile
    // static var cannotOpenFile: URLError.Code { get }
    let _: URLError.Code = URLError.Code.cannotOpenFile
    // static var cannotCloseFile: URLError.Code { get }
    let _: URLError.Code = URLError.Code.cannotCloseFile
    // static var cannotWriteToFile: URLError.Code { get }
    let _: URLError.Code = URLError.Code.cannotWriteToFile
    // static var cannotRemoveFile: URLError.Code { get }
    let _: URLError.Code = URLError.Code.cannotRemoveFile
    // static var cannotMoveFile: URLError.Code { get }
    let _: URLError.Code = URLError.Code.cannotMoveFile
    // static var downloadDecodingFailedMidStream: URLError.Code { get }
    let _: URLError.Code = URLError.Code.downloadDecodingFailedMidStream
    // static var downloadDecodingFailedToComplete: URLError.Code { get }
    let _: URLError.Code = URLError.Code.downloadDecodingFailedToComplete
    // static var internationalRoamingOff: URLError.Code { get }
    let _: URLError.Code = URLError.Code.internationalRoamingOff
    // static var callIsActive: URLError.Code { get }
    let _: URLError.Code = URLError.Code.callIsActive
    // static var dataNotAllowed: URLError.Code { get }
    let _: URLError.Code = URLError.Code.dataNotAllowed
    // static var requestBodyStreamExhausted: URLError.Code { get }
    let _: URLError.Code = URLError.Code.requestBodyStreamExhausted
    // static var backgroundSessionRequiresSharedContainer: URLError.Code { get }
    let _: URLError.Code = URLError.Code.backgroundSessionRequiresSharedContainer
    // static var backgroundSessionInUseByAnotherProcess: URLError.Code { get }
    let _: URLError.Code = URLError.Code.backgroundSessionInUseByAnotherProcess
    // static var backgroundSessionWasDisconnected: URLError.Code { get }
    let _: URLError.Code = URLError.Code.backgroundSessionWasDisconnected
}

func useProxyConfiguration(_ it: ProxyConfiguration) {
    var it = it
    // struct ProxyConfiguration
    let _: ProxyConfiguration.Type = ProxyConfiguration.self
    // init(httpCONNECTProxy: NWEndpoint, tlsOptions: NWProtocolTLS.Options?)
    let _: (NWEndpoint, NWProtocolTLS.Options?) -> ProxyConfiguration = ProxyConfiguration.init(httpCONNECTProxy:tlsOptions:)
    // init(socksv5Proxy: NWEndpoint)
    let _: (NWEndpoint) -> ProxyConfiguration = ProxyConfiguration.init(socksv5Proxy:)
    // init(relayHops: [ProxyConfiguration.RelayHop])
    let _: ([ProxyConfiguration.RelayHop]) -> ProxyConfiguration = ProxyConfiguration.init(relayHops:)
    // init(obliviousHTTPRelay: ProxyConfiguration.RelayHop, relayResourcePath: String, gatewayKeyConfig: Data, matchDomains: [String])
    let _: (ProxyConfiguration.RelayHop, String, Data, [String]) -> ProxyConfiguration = ProxyConfiguration.init(obliviousHTTPRelay:relayResourcePath:gatewayKeyConfig:matchDomains:)
    // var allowFailover: Bool { get set }
    let _: Bool = it.allowFailover
    it.allowFailover = same(it.allowFailover)
    // var matchDomains: [String] { get set }
    let _: [String] = it.matchDomains
    it.matchDomains = same(it.matchDomains)
    // var excludedDomains: [String] { get set }
    let _: [String] = it.excludedDomains
    it.excludedDomains = same(it.excludedDomains)
    // mutating func applyCredential(username: String, password: String)
    let _: (inout ProxyConfiguration, String, String) -> Void = { $0.applyCredential(username: $1, password: $2) }
}

func useProxyConfigurationRelayHop(_ it: ProxyConfiguration.RelayHop) {
    // struct RelayHop
    let _: ProxyConfiguration.RelayHop.Type = ProxyConfiguration.RelayHop.self
    // init(http3RelayEndpoint: NWEndpoint, http2RelayEndpoint: NWEndpoint?, tlsOptions: NWProtocolTLS.Options, additionalHTTPHeaderFields: [String: String])
    let _: (NWEndpoint, NWEndpoint?, NWProtocolTLS.Options, [String: String]) -> ProxyConfiguration.RelayHop = ProxyConfiguration.RelayHop.init(http3RelayEndpoint:http2RelayEndpoint:tlsOptions:additionalHTTPHeaderFields:)
    // init(http2RelayEndpoint: NWEndpoint, tlsOptions: NWProtocolTLS.Options, additionalHTTPHeaderFields: [String: String])
    let _: (NWEndpoint, NWProtocolTLS.Options, [String: String]) -> ProxyConfiguration.RelayHop = ProxyConfiguration.RelayHop.init(http2RelayEndpoint:tlsOptions:additionalHTTPHeaderFields:)
}

func useKeysOfConnectionproxydictionary() {
    // let kCFNetworkProxiesHTTPEnable: String
    let _: String = kCFNetworkProxiesHTTPEnable
    // let kCFNetworkProxiesHTTPProxy: String
    let _: String = kCFNetworkProxiesHTTPProxy
    // let kCFNetworkProxiesHTTPPort: String
    let _: String = kCFNetworkProxiesHTTPPort
    // let kCFNetworkProxiesHTTPSEnable: String
    let _: String = kCFNetworkProxiesHTTPSEnable
    // let kCFNetworkProxiesHTTPSProxy: String
    let _: String = kCFNetworkProxiesHTTPSProxy
    // let kCFNetworkProxiesHTTPSPort: String
    let _: String = kCFNetworkProxiesHTTPSPort
    // let kCFNetworkProxiesSOCKSEnable: String
    let _: String = kCFNetworkProxiesSOCKSEnable
    // let kCFNetworkProxiesSOCKSProxy: String
    let _: String = kCFNetworkProxiesSOCKSProxy
    // let kCFNetworkProxiesSOCKSPort: String
    let _: String = kCFNetworkProxiesSOCKSPort
    // let kCFNetworkProxiesExceptionsList: String
    let _: String = kCFNetworkProxiesExceptionsList
    // let kCFNetworkProxiesExcludeSimpleHostnames: String
    let _: String = kCFNetworkProxiesExcludeSimpleHostnames
}
