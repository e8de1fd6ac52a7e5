import Foundation
import LoadingKitHTTP2
import LoadingKitPrimitives

/// What an HTTP/2 server does with a request: something wrong, or something that is rare. The resource's number chooses it.
struct Misbehaviour: Sendable {
    /// What may come of a request whose connection is fine.
    enum Truth: Sendable {
        case succeeds, fails, either
    }

    typealias Act = @Sendable (HostileConnection, HostileConnection.Exchange) throws -> Void

    let name: String
    let truth: Truth
    /// Whether the client may end the connection because of it, and with it the other requests.
    var endsConnection = false
    /// Whether it is done when the request's head is there, and not its body.
    var isEarly = false
    /// Whether the server says the first time that it has not acted upon the request.
    var refuses = false
    /// Whether the client may not send more of the request than fits into its window at the beginning.
    var keepsWindow = false
    let act: Act

    private init(_ name: String, _ truth: Truth, _ act: @escaping Act) {
        (self.name, self.truth, self.act) = (name, truth, act)
    }

    private func with(_ change: (inout Misbehaviour) -> Void) -> Misbehaviour {
        var result = self
        change(&result)
        return result
    }

    static func of(_ resource: Resource) -> Misbehaviour { table[Int(resource.number % UInt64(table.count))] }

    /// Half of the requests do no harm to others.
    static let table: [Misbehaviour] =
        Array(repeating: goodOnes + refusals, count: 4).flatMap { $0 }
        + resets + badHeads + badBodies + badSettings + badFrames + floods + endings

    /// The request succeeds, as do all others.
    private static func good(_ name: String, _ act: @escaping Act) -> Misbehaviour { .init(name, .succeeds, act) }

    /// The request fails, and no other.
    private static func bad(_ name: String, _ act: @escaping Act) -> Misbehaviour { .init(name, .fails, act) }

    /// All requests of the connection fail.
    private static func fatal(_ name: String, _ act: @escaping Act) -> Misbehaviour {
        bad(name, act).with { $0.endsConnection = true }
    }

    /// What is wrong comes before an answer.
    private static func fatalBefore(_ name: String, _ act: @escaping Act) -> Misbehaviour {
        fatal(name) {
            try act($0, $1)
            try $0.answer($1)
        }
    }

    /// An invalid frame comes before an answer.
    private static func frame(
        _ name: String, _ type: UInt8, flags: UInt8 = 0, on stream: Place = .connection, _ payload: [UInt8] = []
    ) -> Misbehaviour {
        fatalBefore(name) { $0.frame(type, flags: flags, on: stream.number($1.stream), payload) }
    }

    private enum Place {
        case connection, requested, idle, promised

        func number(_ stream: HTTP2StreamID) -> HTTP2StreamID {
            switch self {
            case .connection: .connection
            case .requested: stream
            case .idle: 1_000_001
            case .promised: 2
            }
        }
    }

    /// Happens to a request once, which may be sent again.
    private static func once(_ name: String, _ act: @escaping Act) -> Misbehaviour {
        Misbehaviour(name, .either) { try $1.isFirst ? act($0, $1) : $0.answer($1) }.with { $0.endsConnection = true }
    }

    // MARK: What is rare, and right

    private static let goodOnes: [Misbehaviour] = [
        good("an answer") { try $0.answer($1) },
        good("a content-length") {
            try $0.head($1, length: $1.resource.length)
            try $0.send($1.resource.body(), on: $1.stream)
        },
        good("interim responses") {
            for status in [100, 103, 103] { try $0.head($1, status: status) }
            try $0.answer($1)
        },
        good("trailers") {
            try $0.head($1)
            try $0.send($1.resource.body(), on: $1.stream, endStream: false)
            var fields = HTTPFields()
            fields.append(name: "x-after", value: "a")
            try $0.trailers(fields, on: $1.stream)
        },
        good("padding") {
            try $0.head($1)
            try $0.send($1.resource.body(), on: $1.stream, padding: UInt8($1.resource.number >> 8 & 255))
        },
        good("unknown frames") {
            $0.frame(0xFA, flags: 0xFF, [1, 2, 3])
            try $0.head($1)
            for _ in 0..<10 { $0.frame(0xFB, flags: 0xFF, on: $1.stream, [1, 2, 3]) }
            try $0.send($1.resource.body(), on: $1.stream)
        },
        good("PRIORITY and PINGs") {
            for index in 0..<10 {
                $0.frame(6, [UInt8](repeating: UInt8(index), count: 8))
                $0.frame(2, on: $1.stream, [0, 0, 0, 0, 7])
            }
            try $0.answer($1)
        },
        good("a slow head") {
            usleep(2_000_000)
            try $0.answer($1)
        },
        good("an answer before the request's end") {
            try $0.answer($1)
            $0.reset($1, .noError)
        }.with { $0.isEarly = true },
        good("a window that shrinks") {
            try $0.change { $0.initialWindowSize = 0 }
            usleep(500_000)
            try $0.change { $0.initialWindowSize = 65535 }
            try $0.receiveRest(of: $1)
            try $0.answer($1)
        }.with { $0.isEarly = true },
        good("no streams for a while") {
            try $0.change { $0.maxConcurrentStreams = 0 }
            $0.noteRefusal($1)
            usleep(500_000)
            try $0.change { $0.maxConcurrentStreams = 100 }
            try $0.answer($1)
        },
        good("no table for header fields") {
            try $0.change { $0.headerTableSize = 0 }
            try $0.answer($1)
        },
        good("two GOAWAYs") {
            $0.announceEnd()
            try $0.answer($1)
            try $0.flush()
            usleep(1_000_000)
            $0.goAway($1, after: max($0.lastActedUpon, $1.stream))
        },
        good("GOAWAY, and all answers") {
            $0.goAway($1, after: $0.lastReceived)
            try $0.answer($1)
        },
    ]

    // MARK: Requests that the server has not acted upon

    private static let refusals: [Misbehaviour] = [
        good("REFUSED_STREAM once") {
            if $1.isFirst { $0.reset($1, .refusedStream) } else { try $0.answer($1) }
        },
        good("early REFUSED_STREAM once") {
            if $1.isFirst { $0.reset($1, .refusedStream) } else { try $0.answer($1) }
        }.with { $0.isEarly = true },
        good("GOAWAY below it once") {
            if $1.isFirst, $0.lastActedUpon < $1.stream {
                $0.goAway($1, after: $0.lastActedUpon)
            } else {
                try $0.answer($1)
            }
        },
    ].map { $0.with { $0.refuses = true } }

    // MARK: Requests that have failed

    private static let resets: [Misbehaviour] =
        [
            HTTP2ErrorCode.cancel, .enhanceYourCalm, .internalError, .noError, .protocolError,
        ].flatMap { code in
            [
                bad("\(code) before the head") { $0.reset($1, code) },
                bad("early \(code)") { $0.reset($1, code) }.with { $0.isEarly = true },
                bad("\(code) after the head") {
                    try $0.head($1, length: $1.resource.length + 1)
                    $0.reset($1, code)
                },
                bad("\(code) amid the body") {
                    try $0.head($1)
                    try $0.send(Array($1.resource.body().dropLast()), on: $1.stream, endStream: false)
                    $0.reset($1, code)
                },
            ]
        } + [
            bad("REFUSED_STREAM after the head") {
                try $0.head($1)
                $0.reset($1, .refusedStream)
            },
            bad("no end") {
                try $0.head($1)
                try $0.send(Array($1.resource.body().dropLast()), on: $1.stream, endStream: false)
            },
            bad("no answer") { _, _ in },
            bad("no window") { _, _ in }.with { $0.keepsWindow = true },
            Misbehaviour("a reset after the end", .succeeds) {
                try $0.answer($1)
                $0.frame(3, on: $1.stream, HostileConnection.bytes(HTTP2ErrorCode.noError.rawValue))
            },
        ]

    // MARK: Heads

    private static let status = (":status", "200")

    private static func head(_ fields: [(String, String)]) -> [UInt8] {
        var block: [UInt8] = []
        for (name, value) in fields {
            block.append(0)
            for text in [name, value] { block += [UInt8(text.utf8.count)] + Array(text.utf8) }
        }
        return block
    }

    private static let badHeads: [Misbehaviour] =
        [
            [], [status, status], [(":status", "2x0")], [(":status", "20")], [(":status", "101")],
            [status, (":path", "/")],
            [("a", "b"), status], [status, ("X-A", "b")], [status, ("", "b")], [status, ("a b", "c")],
            [status, ("a", "b\0c")], [status, ("a", "b\r\nc: d")], [status, ("connection", "close")],
            [status, ("transfer-encoding", "chunked")], [status, ("keep-alive", "5")], [status, ("upgrade", "h2c")],
            [status, ("proxy-connection", "close")], [status, ("content-length", "3"), ("content-length", "4")],
            [status, ("content-length", "-1")], [status, ("content-length", "3")],
        ].map { (fields: [(String, String)]) in
            bad("the head \(fields)") { $0.frame(1, flags: 5, on: $1.stream, head(fields)) }
        } + [
            bad("an interim response that ends the stream") {
                $0.frame(1, flags: 5, on: $1.stream, head([(":status", "103")]))
            },
            bad("endless interim responses") {
                // More than are allowed for the bytes of any request.
                for _ in 0..<128 { try $0.head($1, status: 103) }
                try $0.answer($1)
            },
            fatal("a head that is cut") {
                $0.frame(1, flags: 5, on: $1.stream, Array(head([status, ("a", "b")]).dropLast()))
            },
            fatal("a head that is no HPACK") { $0.frame(1, flags: 5, on: $1.stream, [0xFE]) },
            fatal("a huge head") {
                for index in 0..<40 {
                    $0.frame(index == 0 ? 1 : 9, on: $1.stream, head(Array(repeating: ("a", "b"), count: 2000)))
                }
                try $0.answer($1)
            },
            fatal("a head with another frame inside") {
                $0.frame(1, on: $1.stream, head([status]))
                $0.frame(0xFA)
                $0.frame(9, flags: 4, on: $1.stream)
                $0.frame(0, flags: 1, on: $1.stream)
            },
        ]

    // MARK: Bodies

    private static let badBodies: [Misbehaviour] = [
        bad("a short body") {
            try $0.head($1, length: $1.resource.length + 10)
            try $0.send($1.resource.body(), on: $1.stream)
        },
        bad("a long body") {
            try $0.head($1, length: $1.resource.length)
            try $0.send($1.resource.body() + [0x2B], on: $1.stream)
        },
        bad("a short body with trailers") {
            try $0.head($1, length: $1.resource.length + 10)
            try $0.send($1.resource.body(), on: $1.stream, endStream: false)
            try $0.trailers(HTTPFields(), on: $1.stream)
        },
        bad("trailers with a pseudo-field") {
            try $0.head($1)
            try $0.send($1.resource.body(), on: $1.stream, endStream: false)
            $0.frame(1, flags: 5, on: $1.stream, head([status]))
        },
        bad("trailers without an end") {
            try $0.head($1)
            try $0.send($1.resource.body(), on: $1.stream, endStream: false)
            $0.frame(1, flags: 4, on: $1.stream, head([("a", "b")]))
        },
        bad("a body without a head") { $0.frame(0, flags: 1, on: $1.stream, [0x2B]) },
        fatal("nothing but padding") {
            try $0.head($1)
            $0.frame(0, flags: 9, on: $1.stream, [2, 0])
        },
    ]

    // MARK: Settings and windows

    private static let badSettings: [Misbehaviour] = [
        frame("push", 4, [0, 2, 0, 0, 0, 1]),
        frame("a frame size of 1", 4, [0, 5, 0, 0, 0, 1]),
        frame("a window of 2³²-1", 4, [0, 4, 255, 255, 255, 255]),
        // The server may have kept back what it had to acknowledge.
        Misbehaviour("an acknowledgement too many", .either) {
            $0.frame(4, flags: 1)
            try $0.answer($1)
        }.with { $0.endsConnection = true },
        frame("an update of 0", 8, zeros(4)),
        fatalBefore("a window that overflows") { connection, _ in
            for _ in 0..<2 { connection.frame(8, [127, 255, 255, 255]) }
        },
        bad("an update of 0 of the stream") {
            $0.frame(8, on: $1.stream, zeros(4))
            try $0.answer($1)
        }.with { $0.isEarly = true },
        bad("a stream's window that overflows") {
            for _ in 0..<2 { $0.frame(8, on: $1.stream, [127, 255, 255, 255]) }
            try $0.answer($1)
        },
    ]

    // MARK: Frames that may not be there

    private static let badFrames: [Misbehaviour] = [
        frame("a push", 5, flags: 4, on: .requested, HostileConnection.bytes(2) + head([status])),
        frame("HEADERS on a stream of the server", 1, flags: 4, on: .promised, head([status])),
        frame("DATA on an idle stream", 0, flags: 1, on: .idle, [0x2B]),
        frame("RST_STREAM on an idle stream", 3, on: .idle, [0, 0, 0, 8]),
        frame("an update of an idle stream", 8, on: .idle, [0, 0, 0, 8]),
        frame("DATA without a stream", 0, flags: 1, [0x2B]),
        frame("HEADERS without a stream", 1, flags: 5, head([status])),
        frame("CONTINUATION of nothing", 9, flags: 4, on: .requested, head([status])),
        frame("SETTINGS of a stream", 4, on: .requested),
        frame("PING of a stream", 6, on: .requested, zeros(8)),
        frame("GOAWAY of a stream", 7, on: .requested, zeros(8)),
        frame("a PING of 7 bytes", 6, zeros(7)),
        frame("SETTINGS of 5 bytes", 4, zeros(5)),
        frame("RST_STREAM of 3 bytes", 3, on: .requested, zeros(3)),
        frame("GOAWAY of 7 bytes", 7, zeros(7)),
        fatalBefore("a huge frame") { connection, _ in
            connection.frame(0xFA, [UInt8](repeating: 0, count: connection.greatestFrame + 1))
        },
        Misbehaviour("DATA after the end", .either) {
            try $0.answer($1)
            $0.frame(0, flags: 1, on: $1.stream, Array("evil".utf8))
        }.with { $0.endsConnection = true },
        Misbehaviour("HEADERS after the end", .either) {
            try $0.answer($1)
            $0.frame(1, flags: 5, on: $1.stream, head([status]))
        }.with { $0.endsConnection = true },
    ]

    // MARK: Floods

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private static func flood(_ name: String, _ type: UInt8, _ payload: [UInt8] = []) -> Misbehaviour {
        fatalBefore("a flood of \(name)") { connection, _ in
            for _ in 0..<3000 { connection.frame(type, payload) }
        }
    }

    private static let floods: [Misbehaviour] = [
        flood("PINGs", 6, zeros(8)), flood("SETTINGS", 4), flood("unknown frames", 0xFA),
        flood("updates", 8, [0, 0, 0, 1]),
        fatal("a flood of empty DATA") { connection, exchange in
            try connection.head(exchange)
            for _ in 0..<3000 { connection.frame(0, on: exchange.stream) }
            try connection.send(exchange.resource.body(), on: exchange.stream)
        },
        fatal("a flood of CONTINUATION") { connection, exchange in
            connection.frame(1, flags: 1, on: exchange.stream, head([status]))
            for _ in 0..<3000 { connection.frame(9, on: exchange.stream) }
            connection.frame(9, flags: 4, on: exchange.stream)
        },
    ]

    // MARK: Ends of the connection

    private static let endings: [Misbehaviour] = [
        fatal("silence") { connection, _ in try connection.fallSilent() },
        once("an end") { connection, _ in try connection.end() },
        once("an end without close_notify") { connection, _ in connection.socket.closeWithoutNotify() },
        once("a reset connection") { connection, _ in connection.socket.reset() },
        once("GOAWAY, and an end") {
            $0.goAway($1, after: $0.lastReceived, .enhanceYourCalm)
            try $0.end()
        },
        fatal("an end amid a frame") {
            try $0.head($1)
            $0.write([0, 0, 100, 0, 1] + HostileConnection.bytes($1.stream.rawValue) + [1, 2, 3])
            try $0.end()
        },
        fatal("an end amid the body") {
            try $0.head($1)
            try $0.send(Array($1.resource.body().dropLast()), on: $1.stream, endStream: false)
            try $0.end()
        },
        fatal("a reset amid the body") {
            try $0.head($1)
            try $0.send(Array($1.resource.body().dropLast()), on: $1.stream, endStream: false)
            $0.socket.reset()
        },
        fatal("a body that ends with the connection") {
            try $0.head($1)
            try $0.send($1.resource.body(), on: $1.stream, endStream: false)
            try $0.end()
        },
    ]
}
