import Foundation
import LoadingKit
import Synchronization

/// A session, and whether it has been invalidated: its loads may end with an error then.
final class SoakSession: NSObject, URLSessionDelegate, Sendable {
    /// In bytes: so little that the caches are full in the first minutes.
    private static let cacheSize = 512 << 10

    let number: Int
    let usesProxy: Bool
    let hasCache: Bool
    let isInvalidated = Atomic<Bool>(false)
    private let didEnd: @Sendable () -> Void
    private let made = Mutex<URLSession?>(nil)

    init(_ number: Int, _ plan: SoakPlan, didEnd: @escaping @Sendable () -> Void) {
        self.number = number
        self.didEnd = didEnd
        usesProxy = number % 5 == 1
        hasCache = number % 3 == 0
        super.init()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tlsTrustRoots = .file(path: plan.certificate)
        configuration.connectionProxyDictionary = usesProxy ? Self.proxy(plan.squidPort) : [:]
        configuration.urlCache = hasCache ? URLCache(memoryCapacity: Self.cacheSize, diskCapacity: 0) : nil
        configuration.timeoutIntervalForRequest = 60
        configuration.timeoutIntervalForResource = 120
        configuration.httpMaximumConnectionsPerHost = 1 + number % 6
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        made.withLock { $0 = session }
    }

    /// Nil after the session's end.
    var session: URLSession? { made.withLock { $0 } }

    func invalidate(cancelling: Bool) {
        isInvalidated.store(true, ordering: .sequentiallyConsistent)
        let session = made.withLock { made in
            defer { made = nil }
            return made
        }
        if cancelling { session?.invalidateAndCancel() } else { session?.finishTasksAndInvalidate() }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { didEnd() }

    private static func proxy(_ port: Int) -> [AnyHashable: Any] {
        var dictionary: [AnyHashable: Any] = [:]
        for scheme in ["HTTP", "HTTPS"] {
            dictionary["\(scheme)Enable"] = 1
            dictionary["\(scheme)Proxy"] = "127.0.0.1"
            dictionary["\(scheme)Port"] = port
        }
        return dictionary
    }
}

/// The sessions in use. Each that ends is replaced by a like one.
final class SoakSessions: Sendable {
    private let plan: SoakPlan
    private let sessions: Mutex<[SoakSession]>
    private let living = Mutex(0)

    init(_ plan: SoakPlan) {
        self.plan = plan
        sessions = Mutex([])
        for number in 0..<plan.sessionCount {
            let session = make(number)
            sessions.withLock { $0.append(session) }
        }
    }

    private func make(_ number: Int) -> SoakSession {
        living.withLock { $0 += 1 }
        return SoakSession(number, plan) { [weak self] in self?.living.withLock { $0 -= 1 } }
    }

    /// The number of sessions that have not ended.
    var livingCount: Int { living.withLock { $0 } }

    func session(_ index: Int) -> SoakSession { sessions.withLock { $0[index] } }

    func replace(_ index: Int, cancelling: Bool) {
        let new = make(index)
        let old = sessions.withLock { sessions in
            defer { sessions[index] = new }
            return sessions[index]
        }
        old.invalidate(cancelling: cancelling)
    }

    func endAll() {
        let all = sessions.withLock { sessions in
            defer { sessions = [] }
            return sessions
        }
        for session in all { session.invalidate(cancelling: false) }
    }
}
