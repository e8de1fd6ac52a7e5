import Foundation

/// Records the loads of sessions, or holds them. It stands between a request as the handler of its scheme gets it, behind all
/// interceptors and adapters, and the receiver of the response. Called on a session's event loop.
package protocol LoadRecorder: AnyObject, Sendable {
    /// Makes the load of a request.
    ///
    /// - Parameter make: makes the load that is recorded, of the request or of another one, now or later on the loop.
    func load(
        _ request: URLRequest, _ resources: LoadResources, by make: @escaping (URLRequest) throws -> any LoopHandler
    ) throws -> any LoopHandler

    /// Records a transfer of a background session, which may have been performed by another process: its bodies are not
    /// known.
    ///
    /// - Parameter firstURL: the URL of the task's first request.
    func record(
        _ metrics: URLSessionTaskMetrics, _ error: (any Error)?, ofTask task: Int, from firstURL: URL?,
        in session: SessionIdentity)

    /// Calls `done`, on any thread, when what was recorded up to now is where it is kept.
    func flush(_ done: @escaping @Sendable () -> Void)
}

extension SessionCore {
    /// Records the loads that begin from now on, unless the session is in no recording. Called from any thread.
    package func add(_ recorder: any LoadRecorder) {
        if settings.recorders != nil { change { self.recorders.append(recorder) } }
    }

    /// Records no further loads. Called from any thread.
    package func remove(_ recorder: any LoadRecorder) {
        loop.execute { self.recorders.removeAll { $0 === recorder } }
    }

    /// Tells an observer of the session's events from now on. Called from any thread.
    package func follow(by observer: any SessionEventObserver) { change { self.events.add(observer) } }

    /// Before the next load: a task on the session's executor may start one before the loop's next turn.
    private func change(_ change: @escaping @Sendable () -> Void) {
        if loop.isCurrent { change() } else { loop.perform(change) }
    }

    /// Called from any thread.
    package func unfollow(by observer: any SessionEventObserver) { loop.execute { self.events.remove(observer) } }

    /// The kind of the session, for readers.
    package var kindName: String {
        if let identifier = settings.identifier { return "background \(identifier)" }
        return settings.ephemeralStores.isEmpty ? "default" : "ephemeral"
    }

    /// Calls `done`, on any thread, when what was recorded is where it is kept.
    func flushRecorders(_ done: @escaping @Sendable () -> Void) { Self.flush(recorders[...], done) }

    private static func flush(_ recorders: ArraySlice<any LoadRecorder>, _ done: @escaping @Sendable () -> Void) {
        guard let recorder = recorders.first else { return done() }
        recorder.flush { flush(recorders.dropFirst(), done) }
    }

    /// Makes the load of a request by the handler of its scheme; the first recorder stands before the others.
    func makeRecordedLoad(
        _ request: URLRequest, _ resources: LoadResources, by entry: URLProtocolRegistry.Entry,
        _ recorders: ArraySlice<any LoadRecorder>
    ) throws -> any LoopHandler {
        guard let recorder = recorders.first else { return try makeLoad(request, resources, by: entry) }
        return try recorder.load(request, resources) {
            try self.makeRecordedLoad($0, resources, by: entry, recorders.dropFirst())
        }
    }
}
