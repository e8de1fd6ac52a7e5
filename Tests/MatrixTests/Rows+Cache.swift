import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import MatrixPaths
import Testing

/// What is answered without the server.
extension Row {
    private static let noStore: [MatrixPath] = [.webSocket, .ftp, .stream, .resumedDownload, .resumedUpload]
    private static let whyNoStore = "What is answered here is not stored."
    private static let whyNoneInBackground = "Background sessions have no cache."

    /// How far an upload has come is asked of its server alone; a WebSocket's handshake and ftp pass no caches.
    private static let tellsCaches = MatrixPath.data + MatrixPath.background + [.resumedDownload]

    /// Nothing is stored.
    private static func sendsNothing(_ path: MatrixPath, _ change: (inout Trial) -> Void) async throws {
        let seen = try await path.run(change)
        #expect(seen.outcome?.code == .resourceUnavailable && seen.requests.isEmpty && seen.commands.isEmpty)
    }

    /// Caches on the way are told.
    private static func asksForNewest(_ path: MatrixPath, _ change: (inout Trial) -> Void) async throws {
        let seen = try await path.run(change)
        #expect(seen.outcome?.isLoaded == true && seen.values("Cache-Control") == ["no-cache"])
    }

    static let cache: [Row] = [
        .setting("urlCache")
            .on(MatrixPath.data) { path in
                for hasCache in [true, false] {
                    let seen = try await path.run {
                        $0.configure = {
                            $0.urlCache =
                                hasCache ? URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil) : nil
                        }
                        $0.storable()
                    }
                    #expect(seen.outcomes.map(\.text) == ["hello", "hello"])
                    #expect(seen.requests.count == (hasCache ? 1 : 2))
                }
            }
            .not(noStore, whyNoStore)
            .not(MatrixPath.background, whyNoneInBackground),
        .setting("wallClock", "the clock by which what is stored is old")
            .on(MatrixPath.data) { path in
                let now = Box(Date())
                let seen = try await path.run {
                    $0.configure = { $0.settings.wallClock = WallClock { now.value } }
                    $0.storable()
                    $0.betweenRounds = { now.update { $0 += 2000 } }
                }
                #expect(seen.requests.count == 2)
            }
            .not(noStore, whyNoStore)
            .not(MatrixPath.background, whyNoneInBackground),
        .setting("requestCachePolicy")
            .on(MatrixPath.all(but: [.stream])) { path in
                try await sendsNothing(path) { $0.configure = { $0.requestCachePolicy = .returnCacheDataDontLoad } }
                guard tellsCaches.contains(path) else { return }
                try await asksForNewest(path) {
                    $0.configure = { $0.requestCachePolicy = .reloadIgnoringLocalAndRemoteCacheData }
                }
            }
            .not([.stream], Reason.streamFields),
        .property("cachePolicy")
            .on(MatrixPath.all(but: [.stream])) { path in
                try await sendsNothing(path) {
                    $0.change = { $0.cachePolicy = .returnCacheDataDontLoad }
                    $0.hasFirstPart = false
                }
                guard tellsCaches.contains(path) else { return }
                try await asksForNewest(path) {
                    $0.change = { $0.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData }
                }
            }
            .not([.stream], Reason.streamFields),
    ]
}

extension Trial {
    /// Two loads, of which the second can be answered by what the first has left in a cache.
    fileprivate mutating func storable() {
        rounds = 2
        adds = [("Cache-Control", "max-age=1000")]
    }
}
