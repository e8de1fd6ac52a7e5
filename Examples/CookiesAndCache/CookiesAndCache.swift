import Foundation
import LoadingKit
import Synchronization

/// Loads a resource three times, and shows where each response came from, and which cookies the server has set.
///
///     swift run CookiesAndCacheExample https://swift.org/
@main
enum CookiesAndCache {
    static func main() async {
        guard let url = CommandLine.arguments.dropFirst().first.flatMap({ URL(string: $0) }) else {
            print("usage: CookiesAndCacheExample URL")
            exit(2)
        }
        // Cookies and responses of an ephemeral session are in memory, and its own. Those of `.default` are on disk.
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = URLCache(memoryCapacity: 16 << 20, diskCapacity: 0)
        let session = URLSession(configuration: configuration)
        do {
            for policy: URLRequest.CachePolicy in [
                .useProtocolCachePolicy, .useProtocolCachePolicy, .reloadIgnoringLocalCacheData,
            ] {
                let source = Source()
                let (data, _) = try await session.data(for: URLRequest(url: url, cachePolicy: policy), delegate: source)
                print("\(data.count) bytes from the \(source.name)")
            }
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
        for cookie in configuration.httpCookieStorage?.cookies(for: url) ?? [] {
            print("cookie \(cookie.name)=\(cookie.value), \(cookie.isSessionOnly ? "for this session" : "to be kept")")
        }
    }
}

/// Learns from a task's metrics where its response came from. They come before the task's result.
final class Source: NSObject, URLSessionTaskDelegate {
    private let isCached = Mutex(false)

    var name: String { isCached.withLock { $0 } ? "cache" : "network" }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        let isCached = metrics.transactionMetrics.last?.resourceFetchType == .localCache
        self.isCached.withLock { $0 = isCached }
    }
}
