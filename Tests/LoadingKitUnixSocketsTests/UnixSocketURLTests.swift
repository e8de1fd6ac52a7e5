import Foundation
import Testing

@testable import LoadingKitUnixSockets

@Suite struct UnixSocketURLTests {
    /// URL, the socket's path, and what follows the host in the URL that is loaded.
    @Test(arguments: [
        ("http+unix://%2Frun%2Fdocker.sock/v1.44/info?all=1", "/run/docker.sock", "http", "/v1.44/info?all=1"),
        ("https+unix://%2ftmp%2fS", "/tmp/S", "https", "/"), ("HTTP+UNIX://a.sock/x", "a.sock", "http", "/x"),
        ("ws+unix://%2Fr/chat", "/r", "ws", "/chat"), ("wss+unix://%2Fr?a", "/r", "wss", "/?a"),
        ("http+unix://%2Fr%C3%A9/%2F", "/ré", "http", "/%2F"),
        ("http+unix://%2Fa%20b%40c%3A1/", "/a b@c:1", "http", "/"),
    ])
    func accepts(_ text: String, _ path: String, _ scheme: String, _ rest: String) throws {
        let url = try UnixSocketURL(try #require(URL(string: text)))
        #expect(url.socketPath == path)
        #expect(try url.loadedURL().absoluteString == "\(scheme)://\(url.host)\(rest)")
        #expect(UnixSocketURL.socketPath(ofHost: url.host) == path)
        let back = try #require(url.url(for: url.loadedURL(), at: url.host))
        #expect(try UnixSocketURL(back).loadedURL() == url.loadedURL())
        #expect(try UnixSocketURL(back).socketPath == path)
    }

    @Test(arguments: [
        ("http://%2Frun/", UnixSocketURLError.otherScheme("http://%2Frun/")),
        ("http+unix:///x", .noSocket("http+unix:///x")), ("http+unix:/x", .otherScheme("http+unix:/x")),
        ("http+unix://a%00b/", .malformed("http+unix://a%00b/")), ("http+unix://u:p@%2Fr/", .userInfo),
        ("http+unix://%2Fr:80/", .malformed("http+unix://%2Fr:80/")),
        ("http+unix://%FF/", .malformed("http+unix://%FF/")),
    ])
    func refuses(_ text: String, _ error: UnixSocketURLError) throws {
        let url = try #require(URL(string: text))
        #expect(throws: error) { try UnixSocketURL(url) }
    }

    @Test(arguments: [(107, true), (108, false)])
    func longPaths(length: Int, isAccepted: Bool) throws {
        let path = String(repeating: "p", count: length)
        let url = try #require(URL(string: "http+unix://\(path)/"))
        if isAccepted {
            #expect(try UnixSocketURL(url).socketPath == path)
        } else {
            #expect(throws: UnixSocketURLError.pathTooLong(path)) { try UnixSocketURL(url) }
        }
    }

    /// No host but one that was made here leads to a socket: what a URL from elsewhere could spell does not.
    @Test(arguments: [
        "localhost", "unix-.localhost", "unix-2f.localhost", "unix--2f.localhost",
        "unix-00000000000000000000000000000000-2f.localhost", "PREFIX.localhost", "PREFIX2.localhost",
        "PREFIXzz.localhost", "PREFIX00.localhost", "PREFIXff.localhost", "PREFIX2f.example", "xPREFIX2f.localhost",
        "PREFIX2f.localhost.", "PREFIX" + String(repeating: "61", count: 108) + ".localhost",
    ])
    func otherHosts(_ host: String) throws {
        let known = try UnixSocketURL(try #require(URL(string: "http+unix://%2F/"))).host
        #expect(UnixSocketURL.socketPath(ofHost: known) == "/" && known.hasSuffix("2f.localhost"))
        let prefix = known.dropLast("2f.localhost".count)
        #expect(prefix.count >= "unix-".count + 32)
        #expect(UnixSocketURL.socketPath(ofHost: host.replacing("PREFIX", with: prefix)) == nil)
    }

    /// A URL elsewhere is not this socket's.
    @Test(arguments: ["http://unix-2f.localhost/", "https://HOST/", "http://HOST:81/", "http://example.org/HOST"])
    func urlsElsewhere(_ text: String) throws {
        let url = try UnixSocketURL(try #require(URL(string: "http+unix://%2Fr/")))
        let other = try #require(URL(string: text.replacing("HOST", with: url.host)))
        #expect(url.url(for: other, at: url.host) == nil)
    }

    /// By its own name a server names its socket, without a port and with the same security. Nil: the URL leads elsewhere.
    @Test(
        arguments: [
            ("http", "http://localhost/dir/?a#b", "http+unix://%2Fr/dir/?a#b"),
            ("http", "HTTP://LocalHost", "http+unix://%2Fr"),
            ("https", "https://localhost?a", "https+unix://%2Fr?a"), ("ws", "http://localhost/x", "ws+unix://%2Fr/x"),
            ("wss", "wss://localhost/x", "wss+unix://%2Fr/x"), ("http", "https://localhost/", nil),
            ("https", "http://localhost/", nil), ("http", "http://localhost:80/", nil),
            ("http", "ftp://localhost/", nil),
            ("http", "http://localhost@localhost/", nil), ("http", "http://localhost.example/", nil),
            ("http", "http://127.0.0.1/", nil), ("http", "file://localhost/", nil),
        ] as [(String, String, String?)])
    func theServersName(_ scheme: String, _ target: String, _ expected: String?) throws {
        let url = try UnixSocketURL(try #require(URL(string: "\(scheme)+unix://%2Fr/")))
        let found = url.url(for: try #require(URL(string: target)), at: "localhost")
        #expect(found?.absoluteString == expected)
        #expect(url.url(for: try #require(URL(string: target)), at: "other") == nil)
    }
}
