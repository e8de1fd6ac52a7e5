import LoadingKitFTP
import Testing

/// A machine, and a way to write down what it does.
struct MachineRun {
    var machine: FTPClientStateMachine
    var log: [String] = []

    init(_ security: FTPClientStateMachine.Security = .none, allowsPlainPassive: Bool = true) {
        machine = FTPClientStateMachine(security: security, allowsPlainPassive: allowsPlainPassive)
    }

    /// Inputs: a reply (its lines divided by line feeds), or a name in brackets.
    mutating func apply(_ input: String, _ transfer: FTPTransfer?) throws -> String {
        let action: FTPClientStateMachine.Action
        switch input {
        case "[tls]": action = machine.tlsDidStart()
        case "[login]": action = try machine.logIn(user: Array("ada".utf8), password: Array("pw".utf8))
        case "[login without password]": action = try machine.logIn(user: Array("ada".utf8), password: nil)
        case "[begin]": action = transfer.map { machine.begin($0) } ?? .wait
        case "[proceed]": action = machine.proceed(from: 0)
        case "[proceed 5]": action = machine.proceed(from: 5)
        case "[opened]": action = machine.dataDidOpen()
        case "[not opened]": action = machine.dataDidFail()
        case "[ended]": action = machine.dataDidEnd()
        default:
            let lines = input.dropFirst(4).split(separator: "\n", omittingEmptySubsequences: false)
            action = try machine.receive(
                FTPReply(code: Int(input.prefix(3)) ?? 0, lines: lines.isEmpty ? [[]] : lines.map { Array($0.utf8) }))
        }
        return Self.text(action)
    }

    static func text(_ action: FTPClientStateMachine.Action) -> String {
        switch action {
        case .wait: "wait"
        case .send(let command): String(decoding: command.bytes.dropLast(2), as: UTF8.self)
        case .startTLS: "startTLS"
        case .openData(let port): "open \(port)"
        case .tell(let event): text(event)
        case .close(let refusal): "close \(refusal.kind)"
        }
    }

    private static func text(_ event: FTPClientStateMachine.Event) -> String {
        switch event {
        case .logIn(let refusal): "logIn\(refusal.map { " \($0.kind)" } ?? "")"
        case .givePassword: "givePassword"
        case .ready: "ready"
        case .report(let facts): "report \(facts.size ?? -1) \(facts.modificationTime ?? -1)"
        case .begin(let beginning):
            "begin \(beginning.offset) \(beginning.announcedSize ?? -1) \(beginning.isMachineListing)"
        case .finish: "finish"
        case .fail(let refusal): "fail \(refusal.kind)"
        }
    }
}

@Suite struct FTPClientStateMachineTests {
    private static let login = [("220 hi", "logIn"), ("[login]", "USER ada"), ("331 ?", "PASS pw"), ("230 ok", "FEAT")]
    private static let plain = login + [("500 ?", "ready")]
    private static let rich =
        login + [("211-F\n MLST size*;\n UTF8\n REST STREAM\nEnd", "OPTS UTF8 ON"), ("200 ok", "ready")]
    private static let size = [("213 10", "MDTM a"), ("213 19700101000001", "report 10 1")]

    private func run(
        _ steps: [(String, String)], _ operation: FTPTransfer.Operation = .retrieve, _ path: String = "/a",
        security: FTPClientStateMachine.Security = .none, allowsPlainPassive: Bool = true,
        steppingThrough: Bool = false,
        making: Bool = false, _ location: SourceLocation = #_sourceLocation
    ) throws {
        var run = MachineRun(security, allowsPlainPassive: allowsPlainPassive)
        let transfer = FTPTransfer(
            operation, try FTPPath(path), stepsThroughFolders: steppingThrough, makesFolders: making)
        for (index, (input, expected)) in steps.enumerated() {
            let action = try run.apply(input, transfer)
            #expect(action == expected, "step \(index), \(input)", sourceLocation: location)
        }
    }

    @Test func logins() throws {
        try run(Self.plain)
        try run(Self.rich)
        try run([("120 soon", "wait"), ("220 hi", "logIn"), ("[login]", "USER ada"), ("230 ok", "FEAT")])
        try run([
            ("220 hi", "logIn"), ("[login without password]", "USER ada"), ("331 ?", "givePassword"),
            ("[login]", "USER ada"),
        ])
        try run(
            Self.login.dropLast() + [("530 no", "logIn login"), ("[login]", "USER ada"), ("530 no", "logIn login")])
        try run(Self.login.dropLast() + [("332 ?", "close account")])
        try run([("530 full", "close serviceUnavailable")])
        try run([("421 full", "close serviceUnavailable"), ("220 hi", "wait"), ("[login]", "wait")])
    }

    @Test func tls() throws {
        let protected = [("200 ok", "PROT P"), ("200 ok", "logIn"), ("[login]", "USER ada")]
        try run([("220 hi", "AUTH TLS"), ("234 go", "startTLS"), ("[tls]", "PBSZ 0")] + protected, security: .explicit)
        try run([("220 hi", "PBSZ 0")] + protected, security: .implicit)
        try run([("220 hi", "AUTH TLS"), ("500 ?", "close security")], security: .explicit)
        try run(
            [
                ("220 hi", "AUTH TLS"), ("234 go", "startTLS"), ("[tls]", "PBSZ 0"), ("500 ?", "PROT P"),
                ("534 no", "close security"),
            ],
            security: .explicit)
        // Bytes that were sent before TLS began are not authenticated.
        try run(
            [("220 hi", "AUTH TLS"), ("234 go", "startTLS"), ("230 in", "close unexpectedReply")], security: .explicit)
    }

    @Test func retrieving() throws {
        let opened = [("229 (|||7|)", "open 7"), ("[opened]", "RETR a"), ("150 (10 bytes)", "begin 0 10 false")]
        let start = Self.plain + [("[begin]", "TYPE I"), ("200 ok", "SIZE a")] + Self.size + [("[proceed]", "EPSV")]
        let first = start + opened + [("[ended]", "wait"), ("226 ok", "finish")]
        try run(first)
        // Further preliminary replies say nothing.
        try run(
            start + opened + [("150 more", "wait"), ("[ended]", "wait"), ("150 more", "wait"), ("226 ok", "finish")])
        // Again: the form is known, and the reply comes before the data's end.
        try run(
            first + [("[begin]", "SIZE a")] + Self.size + [("[proceed]", "EPSV")] + opened + [
                ("226 ok", "wait"), ("[ended]", "finish"),
            ])
        try run(
            start + [
                ("500 ?", "PASV"), ("227 (1,2,3,4,0,9)", "open 9"), ("[opened]", "RETR a"),
                ("226 all", "begin 0 -1 false"), ("[ended]", "finish"),
            ])
        try run(
            start + [
                ("229 (|||7|)", "open 7"), ("[not opened]", "PASV"), ("227 (1,2,3,4,0,9)", "open 9"),
                ("[not opened]", "close dataConnection"),
            ])
        try run(start + [("500 ?", "fail dataConnection")], allowsPlainPassive: false)
        try run(start + [("229 (|||0|)", "fail dataConnection")], allowsPlainPassive: false)
        try run(
            start + [("229 (|||7|)", "open 7"), ("[not opened]", "close dataConnection")], allowsPlainPassive: false)
        try run(start + opened + [("426 no", "fail interrupted")])
        try run(start + opened + [("[ended]", "wait"), ("451 no", "fail interrupted"), ("[begin]", "SIZE a")])
        try run(start + opened + [("226 ok", "wait"), ("226 ok", "close unexpectedReply")])
        try run(start + opened + [("[ended]", "wait"), ("150 still", "wait"), ("226 ok", "finish")])
    }

    @Test func resuming() throws {
        let start =
            Self.plain + [("[begin]", "TYPE I"), ("200 ok", "SIZE a")] + Self.size
            + [("[proceed 5]", "EPSV"), ("229 (|||7|)", "open 7"), ("[opened]", "REST 5")]
        try run(start + [("350 ok", "RETR a"), ("150 go", "begin 5 -1 false")])
        // A server that cannot: from the beginning, this time and later.
        try run(
            start + [
                ("502 no", "RETR a"), ("150 go", "begin 0 -1 false"), ("[ended]", "wait"), ("226 ok", "finish"),
                ("[begin]", "SIZE a"),
            ]
                + Self.size + [("[proceed 5]", "EPSV"), ("229 (|||7|)", "open 7"), ("[opened]", "RETR a")])
    }

    @Test func whatCannotBeRead() throws {
        let start =
            Self.plain + [
                ("[begin]", "TYPE I"), ("200 ok", "SIZE a"), ("550 ?", "report -1 -1"), ("[proceed]", "EPSV"),
                ("229 (|||7|)", "open 7"), ("[opened]", "RETR a"),
            ]
        try run(start + [("550 ?", "CWD a"), ("550 ?", "fail noSuchFile"), ("[begin]", "SIZE a")])
        try run(start + [("550 ?", "CWD a"), ("250 ok", "close isDirectory")])
        try run(start + [("550 Permission denied", "CWD a"), ("550 ?", "fail noPermission")])
        try run(start + [("425 ?", "fail dataConnection")])
        try run(start + [("426 ?", "fail interrupted")])
        try run(start + [("522 ?", "fail security")])
        try run(start + [("350 ?", "close unexpectedReply")])
        try run(
            Self.plain + [("[begin]", "TYPE I"), ("200 ok", "SIZE a")] + Self.size + [
                ("[proceed]", "EPSV"), ("229 (|||7|)", "open 7"), ("[opened]", "RETR a"),
                ("550 ?", "fail noPermission"),
            ])
    }

    @Test func inspecting() throws {
        let start = Self.plain + [("[begin]", "TYPE I"), ("200 ok", "SIZE a")]
        try run(start + [("213 10", "MDTM a"), ("213 19700101000001", "finish")], .inspect)
        try run(start + [("213 10", "MDTM a"), ("500 ?", "finish")], .inspect)
        try run(start + [("500 ?", "MDTM a"), ("213 19700101000001", "finish")], .inspect)
        try run(start + [("550 ?", "MDTM a"), ("550 ?", "fail noSuchFile")], .inspect)
        try run(start + [("502 ?", "MDTM a"), ("502 ?", "fail notImplemented")], .inspect)
    }

    @Test func listing() throws {
        let open = [("229 (|||7|)", "open 7")]
        let enter = [("[begin]", "TYPE A"), ("200 ok", "PWD"), ("257 \"/home\"", "CWD a/b"), ("250 ok", "EPSV")]
        let list =
            open + [("[opened]", "LIST"), ("150 go", "begin 0 -1 false"), ("[ended]", "wait"), ("226 ok", "finish")]
        try run(Self.plain + enter + list + [("[begin]", "EPSV")] + list, .list, "/a/b/")
        try run(Self.plain + enter + open + [("[opened]", "LIST"), ("550 ?", "fail noSuchFile")], .list, "/a/b/")
        try run(
            Self.plain + enter + open + [("[opened]", "LIST"), ("450 Permission denied", "fail noSuchFile")], .list,
            "/a/b/")
        for reply in ["450 ?", "550 No files found"] {
            try run(Self.plain + enter + open + [("[opened]", "LIST"), (reply, "finish")], .list, "/a/b/")
            try run(Self.rich + enter + open + [("[opened]", "MLSD"), (reply, "finish")], .list, "/a/b/")
        }
        try run(Self.rich + enter + open + [("[opened]", "MLSD"), ("150 go", "begin 0 -1 true")], .list, "/a/b/")
        try run(
            Self.rich + enter + open + [("[opened]", "MLSD"), ("502 ?", "LIST"), ("150 go", "begin 0 -1 false")], .list,
            "/a/b/")
        try run(Self.plain + [("[begin]", "TYPE A"), ("200 ok", "EPSV")] + list, .list, "/")
        try run(
            Self.plain + [
                ("[begin]", "TYPE A"), ("200 ok", "PWD"), ("257 \"/h\"", "CWD /a"), ("550 ?", "fail noSuchFile"),
            ], .list, "/%2Fa/")
        try run(
            Self.plain + [("[begin]", "TYPE A"), ("200 ok", "PWD"), ("500 ?", "close unexpectedReply")], .list, "/a/")
    }

    @Test func uploading() throws {
        let start =
            Self.plain + [
                ("[begin]", "TYPE I"), ("200 ok", "report -1 -1"), ("[proceed]", "EPSV"), ("229 (|||7|)", "open 7"),
            ]
        try run(
            start + [
                ("[opened]", "STOR a/b"), ("150 go", "begin 0 -1 false"), ("[ended]", "wait"), ("226 ok", "finish"),
            ], .store, "/a/b")
        try run(
            start + [("[opened]", "APPE a/b"), ("150 go", "begin 0 -1 false"), ("552 full", "fail noSpace")], .append,
            "/a/b")
        try run(start + [("[opened]", "STOR a/b"), ("553 no", "fail cannotWrite")], .store, "/a/b")
        try run(start + [("[opened]", "STOR a/b"), ("452 no", "fail noSpace")], .store, "/a/b")
        // The rest of a file cannot be stored as a whole file.
        try run(
            Self.plain + [
                ("[begin]", "TYPE I"), ("200 ok", "report -1 -1"), ("[proceed 5]", "EPSV"), ("229 (|||7|)", "open 7"),
                ("[opened]", "REST 5"), ("502 no", "close notImplemented"),
            ], .store, "/a")
    }

    @Test func folders() throws {
        let start = Self.plain + [("[begin]", "TYPE I"), ("200 ok", "PWD"), ("257 \"/home\"", "CWD a")]
        try run(start + [("250 ok", "CWD b"), ("250 ok", "SIZE c")], .retrieve, "/a/b/c", steppingThrough: true)
        try run(
            start + [
                ("550 ?", "MKD a"), ("257 ok", "CWD a"), ("250 ok", "CWD b"), ("550 ?", "MKD b"), ("550 race", "CWD b"),
                ("250 ok", "report -1 -1"),
            ],
            .store, "/a/b/c", making: true)
        try run(
            start + [("550 ?", "MKD a"), ("550 ?", "CWD a"), ("550 ?", "fail noSuchFile")], .store, "/a/b", making: true
        )
        try run(start + [("550 ?", "MKD a"), ("553 ?", "fail cannotWrite")], .store, "/a/b", making: true)
        try run(start + [("550 ?", "fail noSuchFile")], .retrieve, "/a/b", steppingThrough: true)
        let made = [("[begin]", "MKD a"), ("257 \"/a\"", "finish")]
        try run(Self.plain + made + made.dropLast() + [("550 ?", "fail cannotWrite")], .makeDirectory)
    }

    /// After a valid reply it is known whether the folder was made.
    @Test func aFolderThatMayHaveBeenMade() throws {
        let cases = [
            ("[tls]", true), ("150 soon", true), ("600 ?", true), ("257 ok", false), ("550 ?", false), ("421 ?", false),
        ]
        for (input, mayHaveActed) in cases {
            var run = MachineRun()
            let transfer = FTPTransfer(.makeDirectory, try FTPPath("/a"))
            for (input, _) in Self.plain { _ = try run.apply(input, transfer) }
            let action = try run.apply("[begin]", transfer)
            #expect(action == "MKD a")
            _ = try run.apply(input, transfer)
            run.machine.connectionDidClose()
            #expect(run.machine.mayHaveActed == mayHaveActed, "\(input)")
        }
    }

    @Test func foldersOfOneTransferAfterAnother() throws {
        var run = MachineRun()
        for (input, _) in Self.plain { _ = try run.apply(input, nil) }
        func path(_ text: String) throws -> FTPPath { try FTPPath(text) }
        var steps: [(String, FTPTransfer)] = []
        steps.append(("TYPE A", FTPTransfer(.list, try path("/a/"))))
        steps.append(("TYPE I", FTPTransfer(.inspect, try path("/b"))))
        steps.append(("SIZE /c", FTPTransfer(.inspect, try path("/%2Fc"))))
        var sent: [String] = []
        for (_, transfer) in steps {
            var action = try run.apply("[begin]", transfer)
            while action != "finish" {
                sent.append(action)
                switch action.prefix(4) {
                case "PWD": action = try run.apply("257 \"/home\"", nil)
                case "EPSV": action = try run.apply("229 (|||7|)", nil)
                case "open": action = try run.apply("[opened]", nil)
                case "LIST": action = try run.apply("226 ok", nil)
                case "begi": action = try run.apply("[ended]", nil)
                case "SIZE", "MDTM": action = try run.apply("213 1", nil)
                default: action = try run.apply("250 ok", nil)
                }
            }
        }
        #expect(
            sent == [
                "TYPE A", "PWD", "CWD a", "EPSV", "open 7", "LIST", "begin 0 -1 false", "TYPE I", "CWD /home", "SIZE b",
                "MDTM b", "SIZE /c", "MDTM /c",
            ])
    }

    /// A transfer's steps depend on what earlier ones have learned, and on the folder in which they have left the connection.
    @Test func oneTransferAfterAnother() throws {
        typealias Steps = [(String, String)]
        func folder(_ path: String) throws -> FTPTransfer { FTPTransfer(.list, try FTPPath(path)) }
        func file(_ path: String) throws -> FTPTransfer { FTPTransfer(.retrieve, try FTPPath(path)) }
        let pwd: Steps = [("[begin]", "TYPE A"), ("200 ok", "PWD"), ("257 \"/home\"", "CWD a")]
        let listed: Steps =
            pwd + [
                ("250 ok", "EPSV"), ("500 ?", "PASV"), ("227 (1,2,3,4,0,9)", "open 9"), ("[opened]", "LIST"),
                ("226 ok", "begin 0 -1 false"), ("[ended]", "finish"),
            ]
        let rows: [[(FTPTransfer, Steps)]] = [
            // The home folder can no longer be entered.
            [
                (try folder("/a/"), listed),
                (try folder("/b/"), [("[begin]", "CWD /home"), ("550 ?", "close unexpectedReply")]),
            ],
            // The home folder's path is asked for once, and an extended passive connection tried once.
            [
                (try folder("/a/"), pwd + [("550 ?", "fail noSuchFile")]),
                (try folder("/b/"), [("[begin]", "CWD b"), ("250 ok", "EPSV")]),
            ],
            [(try folder("/a/"), listed), (try folder("/a/"), [("[begin]", "PASV")])],
            // An absolute path leads from any folder to its own.
            [(try folder("/a/"), listed), (try folder("/%2Fb/"), [("[begin]", "CWD /b"), ("250 ok", "PASV")])],
            // If that is refused, the connection stays in its folder.
            [
                (try folder("/a/"), listed),
                (try folder("/%2Fb/"), [("[begin]", "CWD /b"), ("550 ?", "fail noSuchFile")]),
                (try folder("/a/"), [("[begin]", "PASV")]),
            ],
            [
                (try folder("/a/"), listed),
                (try folder("/%2Fb/"), [("[begin]", "CWD /b"), ("550 ?", "fail noSuchFile")]),
                (try file("/c"), [("[begin]", "TYPE I"), ("200 ok", "CWD /home"), ("250 ok", "SIZE c")]),
            ],
            // A server that cannot begin in the middle of a file does not replace the file by its rest.
            [
                (
                    try file("/a"),
                    [
                        ("[begin]", "TYPE I"), ("200 ok", "SIZE a"), ("213 10", "MDTM a"), ("500 ?", "report 10 -1"),
                        ("[proceed 5]", "EPSV"), ("229 (|||7|)", "open 7"), ("[opened]", "REST 5"),
                        ("502 no", "RETR a"), ("226 all", "begin 0 -1 false"), ("[ended]", "finish"),
                    ]
                ),
                (
                    FTPTransfer(.store, try FTPPath("/a")),
                    [
                        ("[begin]", "report -1 -1"), ("[proceed 5]", "EPSV"), ("229 (|||7|)", "open 7"),
                        ("[opened]", "REST 5"), ("502 no", "close notImplemented"),
                    ]
                ),
            ],
            // A folder in a file's place, which is entered to find that out, is left again.
            [
                (try folder("/a/"), pwd + [("550 ?", "fail noSuchFile")]),
                (
                    try file("/c"),
                    [
                        ("[begin]", "TYPE I"), ("200 ok", "SIZE c"), ("550 ?", "report -1 -1"), ("[proceed]", "EPSV"),
                        ("229 (|||7|)", "open 7"), ("[opened]", "RETR c"), ("550 ?", "CWD c"),
                        ("250 ok", "fail isDirectory"),
                    ]
                ),
                (try file("/d"), [("[begin]", "CWD /home"), ("250 ok", "SIZE d")]),
            ],
        ]
        for (number, row) in rows.enumerated() {
            var run = MachineRun()
            for (input, _) in Self.plain { _ = try run.apply(input, nil) }
            for (transfer, steps) in row {
                for (input, expected) in steps {
                    #expect(try run.apply(input, transfer) == expected, "row \(number), \(input)")
                }
            }
        }
    }

    /// The size of text is another one than the file's, and is not asked for.
    @Test func text() throws {
        let start = Self.plain + [("[begin]", "TYPE A")]
        try run(start + [("200 ok", "report -1 -1"), ("[proceed]", "EPSV")], .retrieve, "/a;type=a")
        let inspected = start + [("200 ok", "MDTM a")]
        try run(inspected + [("213 19700101000001", "finish")], .inspect, "/a;type=a")
        try run(inspected + [("502 ?", "finish")], .inspect, "/a;type=a")
        try run(inspected + [("550 ?", "fail noSuchFile"), ("[begin]", "MDTM a")], .inspect, "/a;type=a")
    }

    @Test func nothingFollowsTheEndOfTheConnection() throws {
        var run = MachineRun()
        for (input, _) in Self.plain { _ = try run.apply(input, nil) }
        #expect(run.machine.isReady)
        run.machine.connectionDidClose()
        #expect(!run.machine.isReady)
        #expect(try run.apply("226 ok", nil) == "wait")
    }

    @Test func preliminaryRepliesAreCounted() throws {
        var run = MachineRun()
        for _ in 0..<16 { #expect(try run.apply("120 soon", nil) == "wait") }
        #expect(throws: FTPError.tooManyPreliminaryReplies(limit: 16)) { try run.apply("120 soon", nil) }
        #expect(run.machine.stateName == "closed")
    }

    @Test func argumentsDoNotEndCommands() throws {
        var run = MachineRun()
        _ = try run.apply("220 hi", nil)
        #expect(throws: FTPError.invalidArgument(command: "USER")) {
            try run.machine.logIn(user: Array("a\r\nDELE b".utf8), password: nil)
        }
        #expect(throws: FTPError.invalidArgument(command: "PASS")) {
            try run.machine.logIn(user: Array("a".utf8), password: Array("a\nDELE b".utf8))
        }
        #expect(try run.apply("[login]", nil) == "USER ada")
    }
}
