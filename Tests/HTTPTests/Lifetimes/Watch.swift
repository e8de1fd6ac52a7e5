import Foundation
import LoadingKit
import TestSupport

/// Objects that a test gives away, and when nobody holds them any more.
final class Watch: Sendable {
    /// Says when it goes.
    final class Watched: Sendable {
        fileprivate let gone = Signal()

        deinit { gone.fire() }
    }

    private let rows = Recorder<(name: String, gone: Signal)>()

    /// An object that is watched by this name.
    func object(_ name: String) -> Watched {
        let object = Watched()
        rows.append((name, object.gone))
        return object
    }

    /// Bytes whose memory is watched.
    func data(_ name: String) -> Data {
        let object = object(name)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 1000, alignment: 1)
        memory.initializeMemory(as: UInt8.self, repeating: 120, count: 1000)
        return Data(
            bytesNoCopy: memory, count: 1000,
            deallocator: .custom { memory, _ in withExtendedLifetime(object) { memory.deallocate() } })
    }

    var names: [String] { rows.snapshot.map(\.name) }

    /// Those that are not held any more.
    var gone: [String] { rows.snapshot.filter(\.gone.hasFired).map(\.name) }

    /// Waits until nobody holds any of them.
    func allGone() async throws {
        do {
            try await withTimeout("letting go") { [rows] in
                for row in rows.snapshot { await row.gone.wait() }
            }
        } catch {
            throw Held(names: rows.snapshot.filter { !$0.gone.hasFired }.map(\.name))
        }
    }

    struct Held: Error { let names: [String] }
}

/// A delegate that is watched, and answers what its kind of task needs.
final class WatchedDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    // Constants.

    private let watched: Watch.Watched
    private let tasks: Recorder<URLSessionTask>
    private let bodies: @Sendable () -> InputStream?

    /// - Parameter tasks: gets the tasks that are made.
    init(
        _ watched: Watch.Watched, _ tasks: Recorder<URLSessionTask>,
        bodies: @escaping @Sendable () -> InputStream? = { nil }
    ) {
        self.watched = watched
        self.tasks = tasks
        self.bodies = bodies
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { tasks.append(task) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) { completionHandler(bodies()) }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {}
}

/// A body that is watched.
final class WatchedStream: InputStream {
    private let watched: Watch.Watched

    init(_ watched: Watch.Watched) {
        self.watched = watched
        super.init(data: Data("body".utf8))
    }
}
