import Foundation
import LoadingKit

/// Loads scripts by their URLs, each once for all callers, and caches them for a limited time.
actor ScriptLoader {
    private enum Entry {
        case loading(Task<String, any Error>)
        case loaded(String, until: ContinuousClock.Instant)
    }

    private let options: SystemProxies.Options
    /// Whether the scripts come from the user's settings, and not from the program, whose transport security rules then
    /// do not apply.
    private let isOfSystem: Bool
    /// Made for the first script. It uses no proxy, because the script determines the proxies.
    private lazy var session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.timeoutIntervalForResource = options.timeLimit
        configuration.maximumCollectedBodySize = options.maximumScriptSize
        if isOfSystem { configuration.appTransportSecurity.allowsArbitraryLoads = true }
        options.configureScriptSession?(configuration)
        return URLSession(configuration: configuration)
    }()
    private var entries: [URL: Entry] = [:]

    /// The largest number of cached scripts.
    private static let mostKept = 16

    init(_ options: SystemProxies.Options, isOfSystem: Bool = false) {
        self.options = options
        self.isOfSystem = isOfSystem
    }

    /// Loads a script that is not cached or shared: another network may have another script at this URL.
    func loadUncached(_ url: URL) async throws -> String { try await Self.load(url, session, options) }

    /// Loads a script once for all callers, or returns the cached one.
    func load(_ url: URL) async throws -> String {
        switch entries[url] {
        case .loaded(let script, let until) where .now < until: return script
        case .loading(let task): return try await task.value
        case .loaded, nil: break
        }
        if entries.count >= Self.mostKept {
            entries = entries.filter { if case .loading = $0.value { true } else { false } }
        }
        let (session, options) = (session, options)
        // A separate task: it continues for the other callers when the first caller is cancelled, and has its own time
        // limit.
        let task = Task { try await Self.load(url, session, options) }
        entries[url] = .loading(task)
        do {
            let script = try await task.value
            // Not a number counts as 0; longer than a duration can be, as 30 years.
            let lifetime = options.scriptLifetime > 0 ? min(options.scriptLifetime, 1e9) : 0
            entries[url] = .loaded(script, until: .now.advanced(by: .seconds(lifetime)))
            return script
        } catch {
            entries[url] = nil
            throw error
        }
    }

    private static func load(
        _ url: URL, _ session: URLSession, _ options: SystemProxies.Options
    ) async throws -> String {
        do {
            let (data, response) = try await session.data(from: url)
            if let response = response as? HTTPURLResponse, response.statusCode != 200 {
                throw SystemProxyError.scriptStatus(response.statusCode, url: url.withoutUser?.absoluteString ?? "")
            }
            guard data.count <= options.maximumScriptSize else {
                throw SystemProxyError.scriptTooLong(maximum: options.maximumScriptSize)
            }
            // Old scripts are in Latin-1.
            return String(data: data, encoding: .utf8) ?? String(decoding: data.map(UInt16.init), as: UTF16.self)
        } catch let error as URLError where error.code == .dataLengthExceedsMaximum {
            throw SystemProxyError.scriptTooLong(maximum: options.maximumScriptSize)
        }
    }
}
