import Foundation
import Testing

@testable import LoadingKitCore

/// What a background session's settings are in the process that performs its transfers.
@Suite struct SessionDescriptionTests {
    /// Described, sent, and given to another configuration.
    private func passedOn(_ configuration: URLSessionConfiguration) throws -> URLSessionConfiguration {
        let description = try SessionDescription(
            configuration.settings, identifier: "test", program: "test", storeFolder: nil)
        let sent = try JSONDecoder().decode(SessionDescription.self, from: JSONEncoder().encode(description))
        let other = URLSessionConfiguration(settings: SessionSettings())
        try sent.apply(to: &other.settings)
        return other
    }

    /// The other process has another current folder.
    @Test func pathsMeanTheSameFiles() throws {
        let configuration = URLSessionConfiguration(settings: SessionSettings())
        configuration.tlsTrustRoots = .file(path: "roots.pem")
        configuration.tlsRevocationLists = [.file(path: "lists/one.crl"), .file(path: "/etc/two.crl")]
        let other = try passedOn(configuration)
        let folder = FileManager.default.currentDirectoryPath
        guard case .file(let roots) = other.tlsTrustRoots else {
            Issue.record("no file: \(other.tlsTrustRoots)")
            return
        }
        #expect(roots == "\(folder)/roots.pem")
        let lists = other.tlsRevocationLists.map { if case .file(let path) = $0 { path } else { "" } }
        #expect(lists == ["\(folder)/lists/one.crl", "/etc/two.crl"])
    }

    @Test func rulesOfTrustAndOfNetworksAreTheSame() throws {
        let configuration = URLSessionConfiguration(settings: SessionSettings())
        configuration.requiresDNSSECValidation = true
        configuration.multipathServiceType = .handover
        configuration.appTransportSecurity.pinnedDomains = [
            "h.example": .init(includesSubdomains: true, leaves: [Data(repeating: 1, count: 32)])
        ]
        let other = try passedOn(configuration)
        #expect(other.requiresDNSSECValidation && other.multipathServiceType == .handover)
        #expect(other.appTransportSecurity.pinnedDomains == configuration.appTransportSecurity.pinnedDomains)
        let plain = try passedOn(URLSessionConfiguration(settings: SessionSettings()))
        #expect(!plain.requiresDNSSECValidation && plain.multipathServiceType == .none)
        #expect(plain.appTransportSecurity.pinnedDomains.isEmpty && plain.tlsRevocationLists.isEmpty)
    }

    // MARK: Proxies

    /// A URL goes as text.
    @Test func theProxyDictionaryIsTheSame() throws {
        let configuration = URLSessionConfiguration(settings: SessionSettings())
        configuration.connectionProxyDictionary = [
            kCFNetworkProxiesHTTPEnable: true, kCFNetworkProxiesHTTPProxy: "proxy",
            kCFNetworkProxiesHTTPPort: UInt16(8080),
            kCFNetworkProxiesExceptionsList: ["*.local"],
            kCFNetworkProxiesProxyAutoConfigURLString: try #require(URL(string: "http://proxy/script")),
        ]
        let other = try #require(try passedOn(configuration).connectionProxyDictionary)
        #expect(Int(proxySetting: other[kCFNetworkProxiesHTTPEnable]) == 1)
        #expect(Int(proxySetting: other[kCFNetworkProxiesHTTPPort]) == 8080)
        #expect(other[kCFNetworkProxiesHTTPProxy] as? String == "proxy")
        #expect(other[kCFNetworkProxiesExceptionsList] as? [String] == ["*.local"])
        #expect(other[kCFNetworkProxiesProxyAutoConfigURLString] as? String == "http://proxy/script")
    }

    /// The other process may have an environment of its own, which is not looked at.
    @Test(arguments: [["all_proxy": "socks5h://proxy"], [:]])
    func theEnvironmentIsTheProgramsOwn(_ variables: [String: String]) throws {
        let configuration = URLSessionConfiguration(settings: SessionSettings())
        configuration.settings.proxyEnvironment = ProxyEnvironment(variables)
        let other = try passedOn(configuration)
        #expect(other.settings.proxyEnvironment?.variables == variables)
        #expect(other.connectionProxyDictionary == nil)
    }

    private struct NoProxies: ProxyResolver {
        func proxies(for query: ProxyQuery) async throws -> [ProxyChoice] { [] }
    }

    private final class EndDelegate: NSObject, URLSessionDelegate, Sendable {
        private let ends = AsyncStream<(any Error)?>.makeStream()

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            ends.continuation.yield(error)
        }

        func error() async -> (any Error)? {
            var iterator = ends.stream.makeAsyncIterator()
            return await iterator.next().flatMap { $0 }
        }
    }

    /// What cannot be carried: the settings, and what the error names.
    private static let uncarried: [(@Sendable (URLSessionConfiguration) -> Void, String)] = [
        ({ $0.connectionProxyDictionary = ["HTTPProxy": Data()] }, "HTTPProxy"),
        ({ $0.connectionProxyDictionary = ["ExceptionsList": ["a", Date()] as [Any]] }, "ExceptionsList"),
        ({ $0.connectionProxyDictionary = [7: "a"] }, "7"),
        ({ $0.connectionProxyDictionary = ["ProxyAutoConfigEnable": 1] }, "ProxyAutoConfigEnable"),
        ({ $0.proxyResolver = NoProxies() }, "proxyResolver"),
        (
            { $0.proxyConfigurations = [ProxyConfiguration(socksv5Proxy: .hostPort(host: "p", port: 1))] },
            "proxyResolver"
        ),
    ]

    /// A session of these settings is invalidated with an error that says why; it has no transfer that would go another way.
    @Test(arguments: uncarried.indices) func whatCannotBeCarriedIsAnError(_ index: Int) async throws {
        let (change, word) = Self.uncarried[index]
        let configuration = URLSessionConfiguration(settings: SessionSettings())
        change(configuration)
        let transfers = StandInTransfers()
        configuration.settings.makeBackground = BackgroundSession.maker { settings in
            let description = try SessionDescription(
                settings, identifier: "test", program: "test", storeFolder: nil)
            return transfers.channels(for: description)
        }
        let delegate = EndDelegate()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        session.downloadTask(with: try #require(URL(string: "http://server.example/"))).resume()
        let error = try #require(await delegate.error() as? URLError)
        #expect(error.code == .backgroundSessionWasDisconnected)
        #expect(error.localizedDescription.contains(word), "\(error.localizedDescription)")
        #expect(transfers.begun.withLock { $0.isEmpty })
    }
}
