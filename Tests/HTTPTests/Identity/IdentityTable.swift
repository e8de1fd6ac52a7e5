/// The pairs of the table in `SecurityModel.md`, over each path that a load can take: a test, or the reason why there is none.
struct IdentityTable {
    enum Pair: String, CaseIterable {
        case sessions
        case delegates = "tasks with delegates of their own"
        case users
        case nobody = "a user, and nobody"
        case clients = "client identities"
        case trust = "trust decisions"
        case resolvers
        case choices = "proxies of a resolver"
        case proxies = "proxies, and their users"
    }

    enum Path: String, CaseIterable {
        case http1 = "HTTP/1.1"
        case http2 = "HTTP/2"
        case webSocket = "WebSocket"
        case ftp
        case stream = "stream task"
        case resumedDownload = "resumed download"
        case resumedUpload = "resumed upload"
        case background = "background, in the process"
        case daemon = "background, in the daemon"
        case interceptor = "through an interceptor"
        case nextLoad = "through `next.load` of a handler"
        case redirect = "through a redirect"
    }

    enum Cell: Hashable {
        /// A test's type and function.
        case test(String)
        case reason(String)
    }

    /// Nil for a cell that is not there yet.
    static func cell(_ pair: Pair, _ path: Path) -> Cell? {
        switch path {
        case .http1, .http2: plain[pair]
        case .webSocket: pair == .choices ? .test("ProxyRoutesTests.webSocketsTakeTheNextWay") : walked(pair)
        case .redirect: pair == .resolvers ? .test("ProxyResolverTests.aRedirectAsksAboutItsServer") : walked(pair)
        case .resumedDownload, .resumedUpload:
            [.resolvers, .choices].contains(pair) ? .test("ContinuationTests.goesOn") : walked(pair)
        case .interceptor, .nextLoad: walked(pair)
        case .ftp: ftp[pair]
        case .stream: stream(pair)
        case .background, .daemon: background(pair)
        }
    }

    private static let plain: [Pair: Cell] = [
        .sessions: .test("IdentityTests.table"), .delegates: .test("IdentityTests.table"),
        .users: .test("IdentityTests.table"), .nobody: .test("IdentityTests.table"),
        .clients: .test("TaskDelegateTrustTests.identities"), .trust: .test("IdentityTests.table"),
        .resolvers: .test("ProxyResolverTests.twoSessionsShareNothing"),
        .choices: .test("ProxyRoutesTests.eachProxyGetsItsOwnCredential"), .proxies: .test("IdentityTests.table"),
    ]

    private static func walked(_ pair: Pair) -> Cell {
        switch pair {
        case .sessions, .delegates, .users, .nobody, .trust, .proxies:
            .test("IdentityPathTests.nothingElseIsShared")
        case .clients: .reason("a delegate says which identity is shown: as two delegates, or two sessions")
        case .resolvers: .reason("a resolver is its session's: as two sessions")
        case .choices: .reason("the way is found where that of every HTTP request is found")
        }
    }

    private static let ftp: [Pair: Cell] = [
        .sessions: .test("SessionSharingTests.twoSessionsShareNothing"),
        .delegates: .reason(
            "a delegate that decides about connections is a part of what a control connection is known by"),
        .users: .test("SessionSharingTests.twoUsersOfASessionShareNothing"),
        .nobody: .test("SessionSharingTests.aUserAndNobodyShareNothing"),
        .clients: .reason("a delegate says which identity is shown: as two delegates, or two sessions"),
        .trust: .test("SessionRuleTests.aServerWithAnotherKeyThanThePinnedOnesGetsNoPassword"),
        .resolvers: .test("ProxyResolverTests.nothingGoesDirectlyBecauseTheProxiesAreNotKnown"),
        .choices: .test("ProxyResolverTests.theProxyAfterOneThatIsGone"),
        .proxies: .test("ProxyChallengeTests.twoSessionsAskTheirOwnPrograms"),
    ]

    private static func stream(_ pair: Pair) -> Cell {
        switch pair {
        case .users, .nobody: .reason("a stream task has no user")
        case _: .reason("each stream task has a connection and a TLS handshake of its own, which no other task gets")
        }
    }

    private static func background(_ pair: Pair) -> Cell {
        switch pair {
        case .sessions: .test("SeparationTests.nothingIsShared")
        case .delegates:
            .reason("each attempt has a delegate of its own, by which the challenges are passed on: as two delegates")
        case .trust: .test("ProgramTests.trust")
        case .users, .nobody, .clients, .choices, .proxies:
            .reason("an attempt is a load of its session in the service, and takes the paths above")
        case .resolvers: .reason("a resolver is code of the program, which no background session takes along")
        }
    }

    // MARK: The page

    /// The section of the page: a number for each test and reason, and what they stand for.
    static var markdown: String {
        let columns = Pair.allCases.map(\.rawValue)
        var lines = [
            "| path | \(columns.joined(separator: " | ")) |",
            "|---" + String(repeating: "|---", count: columns.count) + "|",
        ]
        var known: [Cell] = []
        for path in Path.allCases {
            let numbers = Pair.allCases.map { pair in
                guard let cell = cell(pair, path) else { return "" }
                if !known.contains(cell) { known.append(cell) }
                return known.firstIndex(of: cell).map { "\($0 + 1)" } ?? ""
            }
            lines.append("| \(path.rawValue) | \(numbers.joined(separator: " | ")) |")
        }
        lines.append("")
        for (index, cell) in known.enumerated() {
            switch cell {
            case .test(let name): lines.append("\(index + 1). `\(name)`")
            case .reason(let text): lines.append("\(index + 1). No test of its own: \(text).")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
