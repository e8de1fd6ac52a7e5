import Foundation
import LoadingKit
import Testing

@testable import LoadingKitCore
@testable import LoadingKitHTTP

/// Which proxy connections for `ftp` URLs go through.
@Suite struct FTPProxyRulesTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// As JSON.
        var dictionary: String?
        var environment: [String: String] = [:]
        var hasResolver = false
        var host = "host.test"
        /// The proxy; nil for none.
        var proxy: String?
    }

    private static let cases = [
        Case(testDescription: "nothing is set", proxy: nil),
        Case(testDescription: "ftp_proxy", environment: ["ftp_proxy": "http://p.test:1"], proxy: "http://p.test:1"),
        Case(testDescription: "FTP_PROXY", environment: ["FTP_PROXY": "http://p.test:1"], proxy: "http://p.test:1"),
        Case(
            testDescription: "all_proxy after ftp_proxy",
            environment: ["ftp_proxy": "http://p.test:1", "all_proxy": "http://q.test:1"], proxy: "http://p.test:1"),
        Case(testDescription: "all_proxy", environment: ["all_proxy": "http://q.test:1"], proxy: "http://q.test:1"),
        Case(
            testDescription: "those of http and https are not FTP's",
            environment: ["http_proxy": "http://p.test:1", "https_proxy": "http://p.test:1"], proxy: nil),
        Case(
            testDescription: "no_proxy", environment: ["ftp_proxy": "http://p.test:1", "no_proxy": "host.test"],
            proxy: nil),
        Case(
            testDescription: "a dictionary, and not the environment",
            dictionary: #"{"FTPEnable": 1, "FTPProxy": "p.test", "FTPPort": 2}"#,
            environment: ["ftp_proxy": "http://q.test:1"], proxy: "http://p.test:2"),
        Case(
            testDescription: "a dictionary with a proxy for https alone",
            dictionary: #"{"HTTPSEnable": 1, "HTTPSProxy": "p.test", "HTTPSPort": 2}"#, proxy: nil),
        Case(
            testDescription: "an empty dictionary, with a resolver", dictionary: "{}", hasResolver: true,
            proxy: nil),
        Case(
            testDescription: "a script, and an exception",
            dictionary:
                #"{"ProxyAutoConfigEnable": 1, "ProxyAutoConfigURLString": "http://p.test/x", "ExceptionsList": ["*.in"]}"#,
            host: "host.in", proxy: nil),
    ]

    @Test(arguments: cases) private func proxy(_ row: Case) throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = try row.dictionary.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        if row.hasResolver { configuration.proxyResolver = TestResolver([.direct]) }
        let rules = FTPProxyRules(configuration.settings, environment: row.environment)
        let server = Origin(isSecure: true, host: row.host, port: 21)
        #expect(rules.proxy(for: server)?.description == row.proxy)
    }
}
