import Foundation

extension URLSession {
    /// Figures of a session: its present state, and what has happened since its start.
    ///
    /// Dictionaries by reason have the reasons that have occurred. The page <doc:Statistics> lists all reasons.
    public struct Statistics: Sendable, Hashable {
        /// Whether the session is invalidated: its figures do not change any more.
        public var isInvalidated = false
        /// The tasks, present and past.
        public var tasks = Tasks()
        /// The requests of all loads.
        public var requests = Requests()
        /// The connections, present and past.
        public var connections = Connections()
        /// The bytes of all requests and responses.
        public var bytes = Bytes()
        /// The decisions of the cache.
        public var cache = Cache()
        /// The cookies of responses and requests.
        public var cookies = Cookies()
        /// The authentication challenges.
        public var challenges = Challenges()
        /// The look-ups of hosts' names, each for one connection. An answer that was kept takes no time, and an address
        /// has no look-up.
        public var nameLookUps = Times()
        /// The connecting of sockets: from the first attempt with one of the addresses to the first success.
        public var connects = Times()
        /// The TLS handshakes, with the time that a program takes to answer a challenge.
        public var handshakes = Times()
        /// From the sending of a request to the first byte of its response.
        public var firstBytes = Times()
        /// The memory that the session keeps.
        public var memory = Memory()
        /// The figures of the whole process.
        public var process = Process()

        /// Figures of a session that has done nothing.
        public init() {}

        /// The session's tasks.
        public struct Tasks: Sendable, Hashable {
            /// Data tasks that have not ended.
            public var data = TaskStates()
            /// Upload tasks that have not ended.
            public var upload = TaskStates()
            /// Download tasks that have not ended.
            public var download = TaskStates()
            /// Stream tasks that have not ended.
            public var stream = TaskStates()
            /// WebSocket tasks that have not ended.
            public var webSocket = TaskStates()
            /// The tasks that have begun to load since the session's start.
            public var begun = 0
            /// Those that have succeeded, whatever the status of the response.
            public var succeeded = 0
            /// Those that have failed with a `URLError`, by its code.
            public var failed: [URLError.Code: Int] = [:]
            /// Those that have failed with an error of a program's own handler.
            public var failedByHandler = 0

            /// The tasks that have begun and not ended.
            public var running: Int { begun - succeeded - failed.values.reduce(failedByHandler, +) }
        }

        /// Tasks of one kind that have not ended, by state. Those of a background session are performed in another
        /// process.
        public struct TaskStates: Sendable, Hashable {
            /// Tasks that load, or wait to load.
            public var running = 0
            /// With those that were not resumed yet.
            public var suspended = 0
            /// Tasks that are cancelled, and whose end is not reported yet.
            public var canceling = 0
        }

        /// The loads and requests of tasks.
        public struct Requests: Sendable, Hashable {
            /// The loads that have begun: one for each task, and one for each redirect that was followed.
            public var loads = 0
            /// The requests that wait for a connection now, also for one that is being opened.
            public var waiting = 0
            /// The largest number of them that wait for one server.
            public var longestQueue = 0
            /// The requests that were the first on their connection.
            public var onNewConnections = 0
            /// The requests on connections that had carried others before.
            public var onUsedConnections = 0
            /// The final responses, by the first digit of the status.
            public var responses: [Int: Int] = [:]
            /// The responses that redirected, whether or not the redirect was followed.
            public var redirects = 0
            /// The requests that were sent again, by reason.
            public var retries: [String: Int] = [:]
            /// The number of times that a request's connection could not be opened.
            public var failedConnects = 0
        }

        /// The session's connections, to servers and proxies.
        public struct Connections: Sendable, Hashable {
            /// The connections that are being opened.
            public var opening = 0
            /// The open connections, by protocol: `http1`, `http2`, `ftp`, `stream`.
            public var open: [String: ConnectionStates] = [:]
            /// The open streams of HTTP/2 connections.
            public var openStreams = 0
            /// The largest number of streams that the servers allow on these connections. A server that states no limit
            /// counts as 2,147,483,647.
            public var allowedStreams = 0
            /// The connections that were opened since the session's start, by protocol.
            public var opened: [String: Int] = [:]
            /// The connections that were closed or left the session, by reason.
            public var closed: [String: Int] = [:]
            /// The attempts to open a connection that failed, by the step: `lookUp`, `connect`, `handshake`.
            public var failed: [String: Int] = [:]
            /// The attempts that were ended because no request needed the connection any longer.
            public var cancelled = 0
        }

        /// Open connections of one protocol, by state.
        public struct ConnectionStates: Sendable, Hashable {
            /// The connections with requests.
            public var active = 0
            /// Connections that carry no request.
            public var idle = 0
            /// The connections that carry their last requests.
            public var closing = 0

            /// No connections.
            public init() {}
        }

        /// The bytes of requests and responses that are over, also of those that were lost or cancelled.
        public struct Bytes: Sendable, Hashable {
            /// The heads of requests: in HTTP/2 with frames and after compression.
            public var headsSent: Int64 = 0
            /// The bodies of requests, with the framing.
            public var bodiesSent: Int64 = 0
            /// The heads of responses.
            public var headsReceived: Int64 = 0
            /// The bodies of responses, with the framing and before decoding.
            public var bodiesReceived: Int64 = 0
            /// The bodies of responses after decoding.
            public var decoded: Int64 = 0
            /// The bodies that programs have received from tasks that succeeded, from whatever source.
            public var delivered: Int64 = 0
        }

        /// The decisions of the cache.
        public struct Cache: Sendable, Hashable {
            /// The stored responses that were used without asking the server, or although it has failed.
            public var hits: [String: Int] = [:]
            /// The requests for which no stored response could be used.
            public var misses: [String: Int] = [:]
            /// The requests that asked the server about a stored response, and the results.
            public var validations: [String: Int] = [:]
            /// The responses that were stored.
            public var stored = 0
            /// The responses that were not stored, by reason.
            public var notStored: [String: Int] = [:]
        }

        /// The cookies of responses and requests.
        public struct Cookies: Sendable, Hashable {
            /// Cookies that were stored.
            public var stored = 0
            /// The cookies that were not stored, by reason.
            public var refused: [String: Int] = [:]
            /// The requests with cookies of the session's storage.
            public var requests = 0
        }

        /// The authentication challenges.
        public struct Challenges: Sendable, Hashable {
            /// The challenges, by kind.
            public var received: [String: Int] = [:]
            /// The answers of programs and of the session, by kind.
            public var answers: [String: Int] = [:]
        }

        /// Measured times, in seconds. All are 0 where nothing was measured.
        public struct Times: Sendable, Hashable {
            /// The number of measured times.
            public var count = 0
            /// Their sum.
            public var total: TimeInterval = 0
            /// The shortest time, in seconds; 0 without any.
            public var least: TimeInterval = 0
            /// The longest time, in seconds; 0 without any.
            public var greatest: TimeInterval = 0

            /// The average; 0 where nothing was measured.
            public var average: TimeInterval { count > 0 ? total / Double(count) : 0 }
        }

        /// Memory and disk, in bytes.
        public struct Memory: Sendable, Hashable {
            /// Memory that is kept for pieces of bodies.
            public var chunks = 0
            /// Memory for the decoding of bodies.
            public var decodeBuffers = 0
            /// The responses of the session's cache in memory. Other sessions may share the cache.
            public var cache = 0
            /// The responses of the session's cache on disk.
            public var cacheOnDisk = 0
        }

        /// Figures of the process, which all of its sessions share.
        public struct Process: Sendable, Hashable {
            /// The threads for files and stores, 16 at most.
            public var fileThreads = 0
            /// The threads for handlers and streams of the program that may block, 512 at most, and as many for the senders
            /// of its handlers' challenges.
            public var programThreads = 0
            /// The threads for look-ups of names, 128 at most. Some may be idle.
            public var lookUpThreads = 0
            /// The look-ups that wait for a thread.
            public var waitingLookUps = 0
            /// The idle connections of all sessions.
            public var idleConnections = 0
            /// The number of idle connections above which the oldest are closed.
            public var idleConnectionLimit = 0
            /// The event loops, each with a thread.
            public var eventLoops = 0
            /// The sessions that have not been released.
            public var sessions = 0
        }
    }
}
