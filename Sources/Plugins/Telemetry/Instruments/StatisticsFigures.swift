#if Telemetry
    import Foundation
    import LoadingKit

    /// A session's statistics as values of metrics.
    struct StatisticsFigures {
        struct Name: Hashable, Sendable {
            let label: String
            let dimensions: [String: String]
        }

        /// Values that rise and fall.
        private(set) var gauges: [Name: Int64] = [:]
        /// Sums since the session's start.
        private(set) var counters: [Name: Int64] = [:]
        /// Sums of seconds since the session's start.
        private(set) var seconds: [Name: Double] = [:]

        init(_ statistics: URLSession.Statistics) {
            addTasks(statistics.tasks)
            addRequests(statistics.requests)
            addConnections(statistics.connections)
            addBytes(statistics.bytes)
            addCache(statistics.cache)
            count("cookies.stored", statistics.cookies.stored)
            count("cookies.refused", "reason", statistics.cookies.refused)
            count("cookies.requests", statistics.cookies.requests)
            count("challenges.received", "kind", statistics.challenges.received)
            count("challenges.answers", "kind", statistics.challenges.answers)
            addTimes("lookup", statistics.nameLookUps)
            addTimes("connect", statistics.connects)
            addTimes("handshake", statistics.handshakes)
            addTimes("first_byte", statistics.firstBytes)
            let (memory, process) = (statistics.memory, statistics.process)
            gauge("memory", "kind", ["chunks": memory.chunks, "decode_buffers": memory.decodeBuffers])
            gauge("cache.size", "kind", ["memory": memory.cache, "disk": memory.cacheOnDisk])
            gauge(
                "process.threads", "kind",
                [
                    "file": process.fileThreads, "program": process.programThreads, "lookup": process.lookUpThreads,
                    "event_loop": process.eventLoops,
                ])
            gauge("process.lookups.waiting", process.waitingLookUps)
            gauge("process.connections.idle", process.idleConnections)
            gauge("process.sessions", process.sessions)
        }

        private mutating func addTasks(_ tasks: URLSession.Statistics.Tasks) {
            let kinds = [
                "data": tasks.data, "upload": tasks.upload, "download": tasks.download, "stream": tasks.stream,
                "websocket": tasks.webSocket,
            ]
            for (kind, states) in kinds {
                let numbers = [
                    "running": states.running, "suspended": states.suspended, "canceling": states.canceling,
                ]
                for (state, number) in numbers { gauge("tasks", number, ["kind": kind, "state": state]) }
            }
            count("tasks.begun", tasks.begun)
            count("tasks.succeeded", tasks.succeeded)
            count("tasks.failed", tasks.failedByHandler, ["error.type": "handler"])
            for (code, number) in tasks.failed {
                count("tasks.failed", number, ["error.type": ErrorType.name(of: code)])
            }
        }

        private mutating func addRequests(_ requests: URLSession.Statistics.Requests) {
            count("loads", requests.loads)
            gauge("requests.waiting", requests.waiting)
            gauge("requests.longest_queue", requests.longestQueue)
            let sent = ["new": requests.onNewConnections, "used": requests.onUsedConnections]
            count("requests.sent", "connection", sent)
            for (digit, number) in requests.responses {
                count("responses", number, ["http.response.status_class": "\(digit)xx"])
            }
            count("redirects", requests.redirects)
            count("requests.retried", "reason", requests.retries)
            count("requests.unconnected", requests.failedConnects)
        }

        private mutating func addConnections(_ connections: URLSession.Statistics.Connections) {
            gauge("connections.opening", connections.opening)
            for (name, states) in connections.open {
                let numbers = ["active": states.active, "idle": states.idle, "closing": states.closing]
                for (state, number) in numbers { gauge("connections", number, ["protocol": name, "state": state]) }
            }
            gauge("streams.open", connections.openStreams)
            gauge("streams.allowed", connections.allowedStreams)
            count("connections.opened", "protocol", connections.opened)
            count("connections.closed", "reason", connections.closed)
            count("connections.failed", "step", connections.failed)
            count("connections.cancelled", connections.cancelled)
        }

        private mutating func addBytes(_ bytes: URLSession.Statistics.Bytes) {
            let kinds = [
                "heads_sent": bytes.headsSent, "bodies_sent": bytes.bodiesSent, "heads_received": bytes.headsReceived,
                "bodies_received": bytes.bodiesReceived, "decoded": bytes.decoded, "delivered": bytes.delivered,
            ]
            for (kind, number) in kinds { counters[name("bytes", ["kind": kind])] = number }
        }

        private mutating func addCache(_ cache: URLSession.Statistics.Cache) {
            count("cache.hits", "reason", cache.hits)
            count("cache.misses", "reason", cache.misses)
            count("cache.validations", "reason", cache.validations)
            count("cache.stored", cache.stored)
            count("cache.not_stored", "reason", cache.notStored)
        }

        private mutating func addTimes(_ kind: String, _ times: URLSession.Statistics.Times) {
            count("times.count", times.count, ["kind": kind])
            seconds[name("times.sum", ["kind": kind])] = times.total
        }

        // MARK: Adding

        private func name(_ label: String, _ dimensions: [String: String] = [:]) -> Name {
            Name(label: "loadingkit.\(label)", dimensions: dimensions)
        }

        private mutating func gauge(_ label: String, _ number: Int, _ dimensions: [String: String] = [:]) {
            gauges[name(label, dimensions)] = Int64(number)
        }

        private mutating func count(_ label: String, _ number: Int, _ dimensions: [String: String] = [:]) {
            counters[name(label, dimensions)] = Int64(number)
        }

        private mutating func gauge(_ label: String, _ dimension: String, _ numbers: [String: Int]) {
            for (value, number) in numbers { gauge(label, number, [dimension: value]) }
        }

        private mutating func count(_ label: String, _ dimension: String, _ numbers: [String: Int]) {
            for (value, number) in numbers { count(label, number, [dimension: value]) }
        }
    }
#endif
