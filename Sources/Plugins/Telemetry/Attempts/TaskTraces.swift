#if Telemetry
    import LoadingKit
    import Synchronization
    import Tracing

    /// What is known of the attempts of each task: their parent, how many there were, and the last one's span.
    final class TaskTraces: Sendable {
        /// What a new attempt is told.
        struct Trace {
            let parent: ServiceContext
            /// 0 for a task's first attempt.
            let resendCount: Int
            /// The span of the attempt before.
            let previous: ServiceContext?
            /// The fields that were injected into the attempt before, which a redirect's request still has.
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
            /// How many entries there may be before those of tasks that are gone are looked for.
            var limit = 64
        }

        private let state = Mutex(State())

        /// For tests.
        var count: Int { state.withLock { $0.entries.count } }

        func setParent(_ parent: ServiceContext, of task: URLSessionTask) {
            change(task) { $0.parent = parent }
        }

        /// Counts an attempt of a task.
        ///
        /// - Parameter own: the parent that the request has; it comes before that of the task.
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
                // A new task may be where one was that is gone.
                var entry = state.entries[key].flatMap { $0.task === task ? $0 : nil } ?? Entry(task: task)
                let result = body(&entry)
                state.entries[key] = entry
                if state.entries.count > state.limit { Self.sweep(&state) }
                return result
            }
        }

        /// Each sweep is paid for by as many new entries as there were left by the one before.
        private static func sweep(_ state: inout State) {
            state.entries = state.entries.filter { $0.value.task != nil }
            state.limit = max(64, state.entries.count * 2)
        }
    }

    extension TaskTraces.Trace: Sendable {}
#endif
