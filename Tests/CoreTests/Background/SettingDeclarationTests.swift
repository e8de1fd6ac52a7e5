import Foundation
import LoadingKitTransport
import Testing

@testable import LoadingKitCore

/// Each setting is declared once, and does in another process what it says.
@Suite struct SettingDeclarationTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../../Sources/LoadingKit/LoadingKit/LoadingKit.docc/BackgroundSessions.md"
    ).standardizedFileURL

    /// A value that is not the default, for each setting that is carried.
    private static let changes: [String: @Sendable (inout SessionSettings) -> Void] = [
        "isDiscretionary": { $0.isDiscretionary = true },
        "backgroundLaunchCommand": {
            ($0.sessionSendsLaunchEvents, $0.backgroundLaunchCommand) = (true, ["/bin/true", "a b"])
        },
        "backgroundDownloadFolder": { $0.backgroundDownloadFolder = URL(fileURLWithPath: "/downloads") },
        "timeoutIntervalForRequest": { $0.timeoutIntervalForRequest = 1.5 },
        "timeoutIntervalForResource": { $0.timeoutIntervalForResource = .infinity },
        "requestCachePolicy": { $0.requestCachePolicy = .reloadIgnoringLocalCacheData },
        "keepsContentCodings": { $0.keepsContentCodings = true },
        "maximumDecompressionRatio": { $0.maximumDecompressionRatio = .max },
        "recordsEvents": { $0.recordsEvents = false },
        "networkServiceType": { $0.networkServiceType = .background },
        "allowsCellularAccess": { $0.allowsCellularAccess = false },
        "allowsExpensiveNetworkAccess": { $0.allowsExpensiveNetworkAccess = false },
        "allowsConstrainedNetworkAccess": { $0.allowsConstrainedNetworkAccess = false },
        "requiresDNSSECValidation": { $0.requiresDNSSECValidation = true },
        "multipathServiceType": { $0.multipathServiceType = .handover },
        "requiredInterface": { $0.requiredInterface = "eth1" },
        "connectionProxyDictionary": {
            $0.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "p", "ExceptionsList": ["a", "b"]]
        },
        "proxyEnvironment": { $0.proxyEnvironment = ProxyEnvironment(["all_proxy": "socks5h://p"]) },
        "httpAdditionalHeaders": { $0.httpAdditionalHeaders = [("X-One", "inf"), ("X-Two", "é")] },
        "httpCookieStorage": { $0.httpCookieStorage = HTTPCookieStorage() },
        "httpShouldSetCookies": { $0.httpShouldSetCookies = false },
        "httpCookieAcceptPolicy": { $0.httpCookieAcceptPolicy = .never },
        "credentialStorage": { $0.credentialStorage = URLCredentialStorage() },
        "httpMaximumConnectionsPerHost": { $0.httpMaximumConnectionsPerHost = 2 },
        "httpShouldUsePipelining": { $0.httpShouldUsePipelining = true },
        "allowsHTTP2": { $0.allowsHTTP2 = false },
        "assumesHTTP2": { $0.assumesHTTP2 = true },
        "retriesUnansweredRequests": { $0.retriesUnansweredRequests = false },
        "attemptsResumableUploads": { $0.attemptsResumableUploads = false },
        "tlsMinimumVersion": { $0.tlsMinimumVersion = .TLSv13 },
        "tlsMaximumVersion": { $0.tlsMaximumVersion = .TLSv12 },
        "tlsCipherList": { $0.tlsCipherList = "ECDHE-RSA-AES128-GCM-SHA256" },
        "tlsCipherSuites": { $0.tlsCipherSuites = "TLS_AES_128_GCM_SHA256" },
        "trustRoots": { $0.trustRoots = .pem("text") },
        "tlsEnvironment": { settings in
            settings.tlsEnvironment = TLSEnvironment { ["SSL_CERT_FILE": "/a", "SSL_CERT_DIR": "/b:/c"][$0] }
        },
        "verifiesServer": { $0.verifiesServer = false },
        "revocationLists": { $0.revocationLists = [.der(Data([1, 2])), .pem("text")] },
        "ownTransportSecurity": {
            $0.appTransportSecurity.exceptionDomains = ["a.example": .init(minimumTLSVersion: .TLSv13)]
        },
    ]

    /// Such that cannot be carried, and must not be missed.
    private static let refused: [String: @Sendable (inout SessionSettings) -> Void] = [
        "unixSocket": { $0.unixSocket = { _ in nil } },
        "proxyResolver": { $0.proxyResolver = Resolver() },
        "authenticationSchemes": { $0.authenticationSchemes = [AuthenticationSchemeMaker(Scheme.self)] },
        "interceptors": { $0.interceptors = [Interceptor()] },
        "factories": { settings in
            let configuration = URLSessionConfiguration(settings: settings)
            configuration.register(scheme: "HTTP") { URLProtocolHandler(request: $0, cachedResponse: nil, client: nil) }
            settings = configuration.settings
        },
    ]

    private func description(_ settings: SessionSettings) throws -> SessionDescription {
        try SessionDescription(settings, identifier: "i", program: "p", storeFolder: "/stores")
    }

    /// As it is after the way to another process.
    private func sent(_ description: SessionDescription) throws -> SessionDescription {
        try JSONDecoder().decode(SessionDescription.self, from: JSONEncoder().encode(description))
    }

    private func received(_ json: String) throws -> SessionDescription {
        try JSONDecoder().decode(SessionDescription.self, from: Data(json.utf8))
    }

    @Test func eachStoredPropertyIsDeclaredOnce() {
        let properties = Mirror(reflecting: SessionSettings()).children.compactMap(\.label)
        let declared = SettingDeclaration.all.map(\.name)
        #expect(
            Set(properties).subtracting(declared).sorted() == [],
            "declare them in SettingDeclaration+All.swift, as CONTRIBUTING.md describes")
        #expect(Set(declared).subtracting(properties).sorted() == [], "declared, and no stored properties")
        #expect(Set(declared).count == declared.count, "a setting is declared twice")
    }

    /// - Parameter table: the name of the values' table in this file.
    private func expectValues(_ values: [String], of declared: [SettingDeclaration], _ table: String) {
        let names = declared.map(\.name)
        #expect(Set(names).subtracting(values).sorted() == [], "add a value for them to `\(table)` of this file")
        #expect(Set(values).subtracting(names).sorted() == [], "remove them from `\(table)` of this file")
    }

    @Test func eachSettingThatIsCarriedArrives() throws {
        let carried = SettingDeclaration.all.filter { if case .transfers = $0.reach { true } else { false } }
        expectValues(Array(Self.changes.keys), of: carried, "changes")
        let plain = try description(SessionSettings())
        for (name, change) in Self.changes {
            var settings = SessionSettings()
            change(&settings)
            let changed = try description(settings)
            #expect(changed != plain, "\(name)")
            let there = try sent(changed)
            #expect(there == changed, "\(name)")
            // Stores are those of the other process.
            var result = SessionSettings()
            (result.httpCookieStorage, result.credentialStorage) = (
                settings.httpCookieStorage, settings.credentialStorage
            )
            try there.apply(to: &result)
            #expect(try description(result) == changed, "\(name)")
            #expect(result.waitsForConnectivity)
        }
    }

    /// What another process knows already is replaced by the default.
    @Test func aDefaultArrivesToo() throws {
        var other = SessionSettings()
        for change in Self.changes.values { change(&other) }
        let plain = try description(SessionSettings())
        try sent(plain).apply(to: &other)
        #expect(try description(other) == plain)
    }

    @Test func whatCannotBeCarriedIsRefused() throws {
        let declared = SettingDeclaration.all.filter { if case .refused = $0.reach { true } else { false } }
        expectValues(Array(Self.refused.keys), of: declared, "refused")
        for setting in declared {
            var settings = SessionSettings()
            Self.refused[setting.name]?(&settings)
            let error = #expect(throws: LoadFailure.self) { try description(settings) }
            #expect(error?.code == .backgroundSessionWasDisconnected)
            #expect(String(describing: error).contains(setting.publicName ?? ""))
        }
    }

    /// The storage of the other process does not have the policy that the program has set.
    @Test func theStricterPolicyForCookiesArrives() throws {
        let policies: [HTTPCookie.AcceptPolicy] = [.always, .onlyFromMainDocumentDomain, .never]
        for (number, policy) in policies.enumerated() {
            for (otherNumber, other) in policies.enumerated() {
                var settings = SessionSettings()
                let storage = HTTPCookieStorage()
                storage.cookieAcceptPolicy = other
                (settings.httpCookieAcceptPolicy, settings.httpCookieStorage) = (policy, storage)
                let arrived = try sent(description(settings)).settings.httpCookieAcceptPolicy
                #expect(arrived == policies[max(number, otherNumber)], "\(policy), \(other)")
            }
        }
    }

    /// A dictionary that cannot be carried whole would be none, and requests would go past the proxies.
    @Test func aDictionaryOfProxiesIsCarriedWholeOrRefused() throws {
        var settings = SessionSettings()
        settings.connectionProxyDictionary = [
            "URL": try #require(URL(string: "http://h.example/proxy.pac")), "Enable": 1,
        ]
        var result = SessionSettings()
        try sent(description(settings)).apply(to: &result)
        #expect(result.connectionProxyDictionary?["URL"] as? String == "http://h.example/proxy.pac")
        #expect(result.connectionProxyDictionary?["Enable"] as? Int == 1)
        settings.connectionProxyDictionary?["Odd"] = Data()
        #expect(throws: LoadFailure.self) { try description(settings) }
        settings.connectionProxyDictionary = [7: "p"]
        #expect(throws: LoadFailure.self) { try description(settings) }
    }

    @Test func whatIsNotKnownOrIsMissingIsRefused() throws {
        let encoder = JSONEncoder()
        // In any other order a member may be the last, without the comma that is removed below.
        encoder.outputFormatting = .sortedKeys
        let json = String(decoding: try encoder.encode(description(SessionSettings())), as: UTF8.self)
        _ = try received(json).settings
        for (old, new) in [
            (#""identifier""#, #""stricter":true,"identifier""#),
            (#""allowsHTTP2":true"#, #""allowsHTTP2":2"#), (#""allowsHTTP2":true,"#, ""),
            (#""minimumVersion":771"#, #""minimumVersion":9999"#),
            (#""roots":{"system":{}}"#, #""roots":{"token":{}}"#),
            (#""verifiesServer":true"#, #""verifiesServer":true,"pinsServer":true"#),
        ] {
            let changed = json.replacingOccurrences(of: old, with: new)
            #expect(changed != json, "\(old)")
            #expect(throws: LoadFailure.self, "\(new)") { try received(changed).settings }
        }
        #expect(throws: DecodingError.self) { try received("{}") }
    }

    /// A session that cannot be described is over at once, and its tasks end.
    @Test func aSessionWithARefusedSettingEndsWithAnError() async throws {
        let world = BackgroundWorld { $0.unixSocket = { _ in nil } }
        #expect(await world.next() == "invalid -997")
        #expect(world.begun.isEmpty)
    }

    /// `LOADINGKIT_WRITE_PAGES=1` writes the table.
    @Test func thePageHasTheTable() throws {
        let head = ["| setting | holds in | effect |", "|---|---|---|"]
        let table = head + SettingDeclaration.all.compactMap(\.line).sorted()
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        var lines = text.components(separatedBy: "\n")
        let start = try #require(lines.firstIndex(of: head[0]))
        let end = try #require(lines[start...].firstIndex(of: ""))
        if ProcessInfo.processInfo.environment["LOADINGKIT_WRITE_PAGES"] != nil {
            lines.replaceSubrange(start..<end, with: table)
            try lines.joined(separator: "\n").write(to: Self.page, atomically: true, encoding: .utf8)
        } else {
            let isSame = Array(lines[start..<end]) == table
            #expect(
                isSame, "run the test with LOADINGKIT_WRITE_PAGES=1, and read the difference of BackgroundSessions.md")
        }
    }
}

private struct Resolver: ProxyResolver {
    func proxies(for query: ProxyQuery) async throws -> [ProxyChoice] { [] }
}

private struct Interceptor: LoadInterceptor {
    func load(_ load: LoadContext) async throws {}
}

private struct Scheme: HTTPAuthenticationScheme {
    static let name = "Own"
    static let authenticationMethod = "OwnMethod"
    let realm: String? = nil
    let strength = 1

    init?(_ challenge: HTTPAuthenticationChallenge) { nil }

    mutating func authorization(for request: HTTPAuthenticationRequest, with credential: URLCredential) -> String? {
        nil
    }

    func advance(after challenge: HTTPAuthenticationChallenge) -> Bool { false }
}
