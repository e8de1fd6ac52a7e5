/// What is measured end to end. Counts are such that each run takes half a second to a second.
enum Scenarios {
    static var all: [Scenario] { small + bulk + cold + schemes }

    /// Small bodies, over connections that stay open.
    private static var small: [Scenario] {
        [1, 64, 1000, 10_000].map { many("http", .http, $0) }
            + [1, 64, 1000].map { many("https", .https, $0) }
            + [1, 64, 1000].map { many("h2", .http2, $0) }
    }

    private static func many(_ scheme: String, _ connection: Load.Connection, _ atATime: Int) -> Scenario {
        let load = Load(connection: connection, length: Load.kilobyte, atATime: atATime)
        let scale = atATime == 1 ? 15_000 : 30_000
        var contestants = [
            Contestant.client("ClientLoadingKit", "LoadingKit", load, requests: scale),
            .client("ClientLoadingKit", "LoadingKit, session.executor", mode: "executor", load, requests: scale),
            .client("ClientCurl", "libcurl", load, requests: scale),
            .client("ClientAsyncHTTPClient", "async-http-client", load, requests: max(scale / 3, atATime * 2)),
        ]
        // It cannot be told what certificate to trust; ten thousand was not tried.
        if case .http = connection, atATime <= 1000 {
            let requests = max(scale / 12, atATime * 2)
            contestants.append(.client("ClientFoundation", "FoundationNetworking", load, requests: requests))
        }
        if case .http2 = connection {
            contestants.append(LoadGenerator.h2load(load, requests: scale))
        } else if atATime * (load.isSecure ? 10 : 1) <= 1000 {
            // With more, its second ends before they are all connected.
            contestants.append(LoadGenerator.wrk(load))
        }
        return Scenario(
            group: "end to end: \(scheme)", name: "1 KB, \(grouped(atATime)) at a time", contestants: contestants,
            // Ten thousand connections take long to open.
            rounds: atATime > 1000 ? 3 : 7)
    }

    /// 1,000 for 1000.
    private static func grouped(_ number: Int) -> String {
        number < 1000 ? "\(number)" : "\(number / 1000),000"
    }

    private static var bulk: [Scenario] {
        [
            hundred("http", .http, "to memory", "memory"), hundred("https", .https, "to memory", "memory"),
            hundred("h2", .http2, "to memory", "memory"), hundred("http", .http, "to a delegate", "delegate"),
            hundred("http", .http, "to a file", "file"),
        ]
    }

    private static func hundred(
        _ scheme: String, _ connection: Load.Connection, _ destination: String, _ mode: String
    ) -> Scenario {
        let load = Load(connection: connection, length: Load.hundredMegabytes)
        var contestants = [
            Contestant.client("ClientLoadingKit", "LoadingKit", mode: mode, load, requests: 5),
            .client("ClientCurl", "libcurl", mode: mode, load, requests: 5),
            .client("ClientAsyncHTTPClient", "async-http-client", mode: mode, load, requests: 3),
        ]
        if case .http = connection {
            contestants.append(.client("ClientFoundation", "FoundationNetworking", mode: mode, load, requests: 2))
        }
        return Scenario(
            group: "end to end: \(scheme)", name: "100 MB \(destination)", contestants: contestants, isBulk: true,
            // These vary most: the kernel clears a hundred megabytes for each.
            rounds: 11)
    }

    /// A connection for each request. async-http-client does not resume sessions.
    private static var cold: [Scenario] {
        let full = Load(connection: .full, length: Load.kilobyte)
        let resumed = Load(connection: .resumed, length: Load.kilobyte)
        return [
            Scenario(
                group: "end to end: cold connections", name: "1 KB, full handshakes",
                contestants: handshakes(full) + [
                    .client("ClientAsyncHTTPClient", "async-http-client", full, requests: 300)
                ], isResumed: false),
            Scenario(
                group: "end to end: cold connections", name: "1 KB, resumed handshakes",
                contestants: handshakes(resumed), isResumed: true),
        ]
    }

    private static func handshakes(_ load: Load) -> [Contestant] {
        [
            .client("ClientLoadingKit", "LoadingKit", load, requests: 400),
            .client("ClientCurl", "libcurl", load, requests: 400),
        ]
    }

    /// Without a network.
    private static var schemes: [Scenario] {
        let custom = Load(connection: .none("kilobyte:"), length: Load.kilobyte)
        let data = Load(connection: .none("data:text/plain,hello"), length: 5)
        return [
            Scenario(
                group: "end to end: other schemes", name: "1 KB from a handler's load(_:)",
                contestants: [
                    .client("ClientLoadingKit", "LoadingKit", custom, requests: 10_000),
                    .client(
                        "ClientLoadingKit", "LoadingKit, session.executor", mode: "executor", custom, requests: 20_000),
                    .client("ClientLoadingKit", "a bare Task", mode: "task", custom, requests: 100_000),
                ]),
            Scenario(
                group: "end to end: other schemes", name: "data:",
                contestants: [
                    .client("ClientLoadingKit", "LoadingKit", data, requests: 10_000),
                    .client(
                        "ClientLoadingKit", "LoadingKit, session.executor", mode: "executor", data, requests: 20_000),
                    .client("ClientFoundation", "FoundationNetworking", data, requests: 10_000),
                ]),
        ]
    }
}
