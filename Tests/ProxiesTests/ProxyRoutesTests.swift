import Foundation
import Glibc
import LoadingKitCore
import LoadingKitTransport
import Testing

@testable import LoadingKitProxies

/// Routes that are tried in turn, and the errors of proxies.
@Suite struct ProxyRoutesTests {
    private static func proxy(_ host: String, _ user: String? = nil) -> Proxy {
        Proxy(kind: .http, host: host, port: 1, credential: user.map { Proxy.Credential(user: $0, password: "") })
    }

    private static func error(_ cause: ProxyError.Cause, _ host: String = "a") -> ProxyError {
        ProxyError(proxy: proxy(host), destination: "h:443", cause: cause)
    }

    /// The text, the code of the load's error, and whether another route may succeed.
    @Test func causes() {
        let refusal = TransportError(.connect, "a:1", .refused)
        let offline = TransportError(.resolve, "a:1", .resolverFailed("?"), isOffline: true)
        let lack = TransportError(.connect, "a:1", .systemCall(.socket, errno: EMFILE))
        let cases: [(ProxyError.Cause, String, URLError.Code, Bool)] = [
            (.unreachable(refusal), refusal.description, .cannotConnectToHost, true),
            (.unreachable(offline), offline.description, .notConnectedToInternet, true),
            (.unreachable(lack), lack.description, .cannotConnectToHost, false),
            (.silent, "it does not answer", .cannotConnectToHost, true),
            (.unanswered("its reply"), "timed out; its reply was waited for", .timedOut, false),
            (.status(403, "No"), "it answered 403 No", .cannotConnectToHost, false),
            (.status(403, ""), "it answered 403", .cannotConnectToHost, false),
            (.refused("it failed"), "it failed", .cannotConnectToHost, false),
            (
                .authentication,
                "it wants another user name and password: from its settings, the credential storage, or the task's delegate",
                .userAuthenticationRequired, false
            ),
            (.malformed("x"), "its answer makes no sense (x)", .cannotConnectToHost, true),
            (.closed, "it closed the connection without an answer", .cannotConnectToHost, true),
            (.unusableName, "the host's name cannot be sent to it", .cannotConnectToHost, false),
        ]
        for (cause, text, code, isOfRoute) in cases {
            let error = Self.error(cause)
            #expect(error.description == "The proxy http://a:1 did not connect to h:443: \(text)")
            #expect(URLError(LoadFailure.ofConnecting(error), url: nil).code == code, "\(cause)")
            #expect(LoadFailure.isOfRoute(error) == isOfRoute, "\(cause)")
        }
    }

    /// The network by which the proxy is reached may not be used: the error is that of a load without a proxy.
    @Test func excludedNetworks() {
        let cause = TransportError.Cause.notAllowed(.expensive, interface: "wwan0")
        let last = Self.error(.unreachable(TransportError(.connect, "a:1", cause)))
        var routes = ProxyRoutes([Self.proxy("b"), Self.proxy("a")])
        let isTaken = routes.takeNext(after: Self.error(.closed, "b"))
        #expect(isTaken)
        for failure in [LoadFailure.ofConnecting(last), routes.failure(last)] {
            let error = URLError(failure, url: nil)
            #expect(error.code == .notConnectedToInternet && error.networkUnavailableReason == .expensive)
        }
    }

    /// Failures of the transport, and whether another route may succeed.
    @Test func failuresOfTheTransport() {
        let cases: [(TransportError.Phase, TransportError.Cause, Bool)] = [
            (.resolve, .nameNotFound("?"), true), (.resolve, .nameNotValidated("?"), false),
            (.connect, .refused, true), (.tls, .handshake("?"), false), (.tls, .timedOut, true),
            (.read, .truncated, false), (.connect, .systemCall(.socket, errno: ENFILE), false),
            (.connect, .systemCall(.connect, errno: EHOSTUNREACH), true),
            (.resolve, .lookupRefused(.noThread(errno: EAGAIN)), false),
        ]
        for (phase, cause, isOfRoute) in cases {
            #expect(LoadFailure.isOfRoute(TransportError(phase, "h:443", cause)) == isOfRoute, "\(phase) \(cause)")
        }
    }

    @Test func failuresAreSentences() {
        var routes = ProxyRoutes([Self.proxy("a"), nil])
        let isTaken = routes.takeNext(after: Self.error(.malformed("no route.")))
        #expect(isTaken)
        let text = String(describing: routes.failure(Self.error(.closed, "b")))
        #expect(text.contains("(no route.). The proxy http://b:1") && !text.contains(".."))
    }

    @Test func routesAreTriedInTurn() {
        var routes = ProxyRoutes([Self.proxy("a"), Self.proxy("b"), nil])
        #expect(routes.current == Self.proxy("a") && routes.hasNext)
        #expect(routes.limit(of: nil) == 10_000_000_000 && routes.limit(of: 3000) == 1000)
        let steps: [(any Error, isTaken: Bool, current: String?)] = [
            (Self.error(.authentication), false, "a"), (CancellationError(), false, "a"),
            (Self.error(.closed), true, "b"), (Self.error(.silent, "b"), true, nil), (Self.error(.closed), false, nil),
        ]
        for (error, isTaken, current) in steps {
            let takes = routes.takeNext(after: error)
            #expect(takes == isTaken && routes.current?.host == current, "\(error)")
        }
        #expect(!routes.hasNext && routes.limit(of: 3000) == nil)
        let failure = routes.failure(Self.error(.closed, "c"))
        let text = String(describing: failure)
        #expect(text.contains("None of 3 routes led to the server") && text.contains("http://b:1"))
        // An error that is not the route's says enough.
        #expect(routes.failure(CancellationError()) is CancellationError)
        #expect(ProxyRoutes([nil]).failure(Self.error(.closed)) is LoadFailure)
    }

    @Test func proxiesOfUsers() {
        #expect(Self.proxy("a").credential == nil && Self.proxy("a").partition == "http://a:1 ")
        let owned = Self.proxy("a", "me")
        #expect(owned.credential == Proxy.Credential(user: "me", password: ""))
        #expect(owned.partition == "http://a:1 me" && owned.description == "http://a:1")
    }

    /// The URL that a resolver is asked about.
    @Test func targets() {
        let cases = [("h", "https://h:443"), ("::1", "https://[::1]:443"), ("fe80::1%eth0", "https://[fe80::1]:443")]
        for (host, url) in cases {
            #expect(ProxyTarget(.https, host: host, port: 443).url?.absoluteString == url)
        }
    }
}
