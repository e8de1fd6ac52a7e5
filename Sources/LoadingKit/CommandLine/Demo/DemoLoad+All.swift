import Foundation

extension DemoLoad {
    /// The demo's loads in their order, which is significant: a load reuses the connection of the load before it.
    static func all(_ world: DemoWorld) -> [DemoLoad] {
        (local(world) + plain(world) + failures(world) + secure(world) + modern(world) + own()).compactMap { $0 }
    }

    /// - Parameters:
    ///   - options: the options before the URL in the displayed command.
    ///   - code: the displayed code, where no command can perform the load.
    private init?(
        _ name: String, _ point: String, _ url: String, options: String = "", quotesURL: Bool = false,
        code: String? = nil,
        trustsDemoAuthority: Bool = true, expecting expected: Expectation
    ) {
        guard let parsed = URL(string: url) else { return nil }
        let words = ["$ loadkit", options, quotesURL ? "'\(url)'" : url].filter { !$0.isEmpty }
        self.init(
            name: name, point: point, command: code ?? words.joined(separator: " "), url: parsed,
            trustsDemoAuthority: trustsDemoAuthority, expected: expected)
    }

    private static func local(_ world: DemoWorld) -> [DemoLoad?] {
        [
            DemoLoad(
                "data:", "The URL is the resource.", "data:text/plain;charset=utf-8,Hello%20from%20a%20URL.",
                quotesURL: true, expecting: .body(Data("Hello from a URL.".utf8))),
            DemoLoad(
                "file:", "A file of this machine.", world.file.absoluteString,
                expecting: .body(Data(DemoSite.notes.utf8))),
        ]
    }

    private static func plain(_ world: DemoWorld) -> [DemoLoad?] {
        let (hello, chunks) = (
            Data(DemoSite.hello.utf8), Data((0..<DemoSite.chunkCount).flatMap { _ in DemoSite.chunk })
        )
        return [
            DemoLoad(
                "http:", "A new connection: connect, request, wait, receive.", world.plain.url("/hello"),
                options: "--timing -i", expecting: .body(hello, status: 200, isReused: false)),
            DemoLoad(
                "http: keep-alive", "The same connection again: nothing to connect.", world.plain.url("/hello"),
                options: "--timing -v", expecting: .body(hello, status: 200, isReused: true)),
            DemoLoad(
                "http: chunked", "A body whose length nobody knew before it ended.", world.plain.url("/chunked"),
                options: "--timing -o body.txt", expecting: .body(chunks, status: 200)),
            DemoLoad(
                "http: gzip", "A compressed body, decoded as it comes.", world.plain.url("/gzip"),
                options: "--timing", expecting: .body(Data(DemoSite.poem.utf8), status: 200)),
            DemoLoad(
                "http: redirect", "Two requests, one load.", world.plain.url("/old"), options: "--timing -i",
                expecting: .body(Data(DemoSite.moved.utf8), status: 200, redirects: 1)),
        ]
    }

    private static func failures(_ world: DemoWorld) -> [DemoLoad?] {
        [
            DemoLoad(
                "http: an error page", "A server's error is a response like any other (-f makes it a failure).",
                world.plain.url("/missing"), expecting: .body(Data(DemoSite.missing.utf8), status: 404)),
            DemoLoad(
                "http: refused", "Nobody listens: an error in plain words, and curl's exit code.",
                "http://127.0.0.1:\(world.refusingPort)/", expecting: .failure(.couldNotConnect)),
        ]
    }

    private static func secure(_ world: DemoWorld) -> [DemoLoad?] {
        let (url, body) = (world.secure.url("/secret", host: "localhost"), Data(DemoSite.secret.utf8))
        return [
            DemoLoad(
                "https:", "TLS, with a certificate made a moment ago and trusted by this demo alone.", url,
                options: "--timing --cacert demo.pem", expecting: .body(body, status: 200, isReused: false)),
            DemoLoad(
                "https: keep-alive", "The handshake is paid for once.", url, options: "--timing --cacert demo.pem",
                expecting: .body(body, status: 200, isReused: true)),
            DemoLoad(
                "https: not trusted", "The same server, to a client for whom that certificate means nothing.", url,
                trustsDemoAuthority: false, expecting: .failure(.certificate)),
        ]
    }

    private static func modern(_ world: DemoWorld) -> [DemoLoad?] {
        let numbers = 1...DemoSite.tileCount
        let urls = numbers.map { world.modern.url("/tile/\($0)", host: "localhost") }
        var load = DemoLoad(
            "https: HTTP/2",
            "Twenty resources at once over one connection, which the first made. Here are three of them:",
            urls[0], code: "$ loadkit --timing --cacert demo.pem -j 20 \(urls[0]) …",
            expecting: .body(Data(numbers.map { DemoSite.tile("\($0)") }.joined().utf8), status: 200, isReused: true))
        load?.urls = urls.compactMap { URL(string: $0) }
        return [load]
    }

    private static func own() -> [DemoLoad?] {
        [
            DemoLoad(
                "a scheme of your own", "A small class, registered in the configuration, loads greeting: URLs.",
                "greeting:Ada", code: #"try await session.data(from: URL(string: "greeting:Ada")!)"#,
                expecting: .body(Data("Good morning, Ada!\n".utf8)))
        ]
    }
}
