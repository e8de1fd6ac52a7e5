#if Telemetry
    import LoadingKit
    import Synchronization
    import Tracing

    /// Records the attempts of each task: their parent, their number, and the last one's span.
    final class TaskTraces: Sendable {
        /// The trace data for a new attempt.
        struct Trace: Sendable {
            let parent: ServiceContext
            /// 0 for a task's first attempt.
            let resendCount: Int
            /// The span of the previous attempt.
            let previous: ServiceContext?
            /// The fields that were injected into the previous attempt, which a redirect's request still has.
            let injected: Set<String>
        }

        private struct Entry {
            weak var task: URLSessionTask?
            var parent: ServiceContext?
            var attempts = 0
            var last: ServiceContext?
            var injected: Set<String> = []
        }

        private struct State {
            var entries: [ObjectIdentifier: Entry] = [:]
            /// The number of entries from which entries of released tasks are removed.
            var limit = 64
        }

        private let state = Mutex(State())

        /// The number of entries, for tests.
        var count: Int { state.withLock { $0.entries.count } }

        func setParent(_ parent: ServiceContext, of task: URLSessionTask) {
            change(task) { $0.parent = parent }
        }

        /// Counts an attempt of a task.
        ///
        /// - Parameter own: the request's own parent, which takes precedence over the task's.
        func begin(_ task: URLSessionTask, parent own: ServiceContext?) -> Trace {
            change(task) { entry in
                let parent = own ?? entry.parent ?? ServiceContext.current ?? .topLevel
                if entry.parent == nil { entry.parent = parent }
                defer { entry.attempts += 1 }
                return Trace(
                    parent: parent, resendCount: entry.attempts, previous: entry.last, injected: entry.injected)
            }
        }

        func note(_ context: ServiceContext, injected: [String], of task: URLSessionTask) {
            change(task) { entry in
                entry.last = context
                entry.injected.formUnion(injected)
            }
        }

        private func change<Result: Sendable>(_ task: URLSessionTask, _ body: (inout Entry) -> Result) -> Result {
            state.withLock { state in
                let key = ObjectIdentifier(task)
                // A new task may have the address of a released one.
                var entry = state.entries[key].flatMap { $0.task === task ? $0 : nil } ?? Entry(task: task)
                let result = body(&entry)
                state.entries[key] = entry
                if state.entries.count > state.limit { Self.sweep(&state) }
                return result
            }
        }

        /// The cost of each sweep is shared by as many new entries as the previous sweep has left.
        private static func sweep(_ state: inout State) {
            state.entries = state.entries.filter { $0.value.task != nil }
            state.limit = max(64, state.entries.count * 2)
        }
    }
#endif
