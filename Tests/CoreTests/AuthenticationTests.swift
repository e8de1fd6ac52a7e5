import Foundation
import Testing

@testable import LoadingKitCore

@Suite("Authentication")
struct AuthenticationTests {
    @Test("credentials compare, copy, hide their password and go through an archive")
    func credentials() throws {
        let credential = URLCredential(user: "u", password: "secret", persistence: .permanent)
        #expect(credential.user == "u" && credential.password == "secret" && credential.hasPassword)
        #expect(credential.copy() as? URLCredential === credential && !credential.description.contains("secret"))
        #expect(credential == URLCredential(user: "u", password: "secret", persistence: .permanent))
        #expect(credential != URLCredential(user: "u", password: "other", persistence: .permanent))
        #expect(credential != URLCredential(user: "u", password: "secret", persistence: .none))
        let composed = URLCredential(user: "\u{E9}", password: "\u{E9}", persistence: .permanent)
        for (user, password) in [("e\u{301}", "\u{E9}"), ("\u{E9}", "e\u{301}")] {
            #expect(composed != URLCredential(user: user, password: password, persistence: .permanent))
        }
        #expect(composed == URLCredential(user: "\u{E9}", password: "\u{E9}", persistence: .permanent))
        let data = try NSKeyedArchiver.archivedData(withRootObject: credential, requiringSecureCoding: true)
        let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: URLCredential.self, from: data)
        #expect(back == credential && back?.hash == credential.hash)
    }

    @Test("spaces know whether they are a server's or a proxy's")
    func spaces() {
        let server = URLProtectionSpace(
            host: "h", port: 443, protocol: NSURLProtectionSpaceHTTPS, realm: "r", authenticationMethod: nil)
        #expect(server.host == "h" && server.port == 443 && server.protocol == "https" && server.realm == "r")
        #expect(!server.isProxy() && server.proxyType == nil && server.distinguishedNames == nil)
        #expect(server.authenticationMethod == NSURLAuthenticationMethodDefault)
        let proxy = URLProtectionSpace(
            proxyHost: "h", port: 443, type: NSURLProtectionSpaceHTTPSProxy, realm: "r", authenticationMethod: nil)
        #expect(proxy.isProxy() && proxy.proxyType == NSURLProtectionSpaceHTTPSProxy && proxy.protocol == nil)
        #expect(server != proxy && server.copy() as? URLProtectionSpace === server)
    }

    @Test("spaces know whether a listener can read the credential")
    func security() {
        let cases: [(String?, String?, Bool)] = [
            ("https", NSURLAuthenticationMethodHTTPBasic, true), ("http", NSURLAuthenticationMethodHTTPBasic, false),
            ("http", NSURLAuthenticationMethodHTTPDigest, true), ("http", NSURLAuthenticationMethodNTLM, true),
            ("http", NSURLAuthenticationMethodNegotiate, true), ("ftp", nil, false), (nil, nil, false),
            ("https", NSURLAuthenticationMethodServerTrust, true), ("https", nil, true),
        ]
        for (name, method, expected) in cases {
            let space = URLProtectionSpace(host: "h", port: 0, protocol: name, realm: nil, authenticationMethod: method)
            #expect(space.receivesCredentialSecurely == expected, "\(space)")
        }
        let proxy = URLProtectionSpace(
            proxyHost: "h", port: 0, type: NSURLProtectionSpaceHTTPSProxy, realm: nil, authenticationMethod: nil)
        #expect(!proxy.receivesCredentialSecurely)
    }

    @Test("spaces are keys, and go through an archive")
    func spacesAsKeys() throws {
        func space(_ host: String = "h", _ port: Int = 1, _ realm: String? = "r") -> URLProtectionSpace {
            URLProtectionSpace(host: host, port: port, protocol: "http", realm: realm, authenticationMethod: nil)
        }
        #expect(Set([space(), space(), space("i"), space("h", 2), space("h", 1, nil)]).count == 4)
        let names = URLProtectionSpace(
            tlsHost: "h", port: 1, distinguishedNames: [Data([1]), Data([2])])
        let proxy = URLProtectionSpace(proxyHost: "p", port: 3, type: "SOCKS", realm: nil, authenticationMethod: nil)
        for original in [space(), space("h", 1, nil), names, proxy] {
            let data = try NSKeyedArchiver.archivedData(withRootObject: original, requiringSecureCoding: true)
            let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: URLProtectionSpace.self, from: data)
            #expect(back == original && back?.hash == original.hash)
        }
    }

    @Test("challenges carry what they are made of, to another sender too")
    func challenges() {
        final class Sender: NSObject, URLAuthenticationChallengeSender {
            func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
            func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
            func cancel(_ challenge: URLAuthenticationChallenge) {}
            func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
            func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
        }
        let space = URLProtectionSpace(host: "h", port: 1, protocol: nil, realm: nil, authenticationMethod: nil)
        let credential = URLCredential(user: "u", password: "p", persistence: .none)
        let response = URLResponse(
            url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        let (first, second) = (Sender(), Sender())
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: credential, previousFailureCount: 2,
            failureResponse: response, error: URLError(.timedOut), sender: first)
        let moved = URLAuthenticationChallenge(authenticationChallenge: challenge, sender: second)
        #expect(challenge.sender === first && moved.sender === second)
        for challenge in [challenge, moved] {
            #expect(challenge.protectionSpace === space && challenge.proposedCredential === credential)
            #expect(challenge.previousFailureCount == 2 && challenge.failureResponse === response)
            #expect((challenge.error as? URLError)?.code == .timedOut)
        }
    }
}
