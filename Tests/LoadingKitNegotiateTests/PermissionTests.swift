import Foundation
import LoadingKit
import Testing

@testable import LoadingKitNegotiate

/// The servers that may get a token.
@Suite struct PermissionTests {
    private static func request(
        _ host: String, isSecure: Bool = true, isProxy: Bool = false
    ) -> HTTPAuthenticationRequest {
        HTTPAuthenticationRequest(method: "GET", target: "/", host: host, isSecure: isSecure, isProxy: isProxy)
    }

    @Test func byDefaultAllWithTLS() {
        let negotiate = Negotiate()
        #expect(negotiate.permits(Self.request("a.test")))
        #expect(!negotiate.permits(Self.request("a.test", isSecure: false)))
        #expect(negotiate.permits(Self.request("proxy.test", isSecure: false, isProxy: true)))
        #expect(!negotiate.delegates(to: Self.request("a.test")))
    }

    @Test func answersOfNTLMAreForServersThatTheProgramNames() {
        var negotiate = Negotiate()
        #expect(!negotiate.trustsWithNTLM(Self.request("a.test")))
        #expect(negotiate.trustsWithNTLM(Self.request("proxy.test", isProxy: true)))
        negotiate.hosts = ["*.corp.test"]
        #expect(negotiate.trustsWithNTLM(Self.request("a.corp.test")))
        #expect(!negotiate.trustsWithNTLM(Self.request("a.test")))
    }

    @Test func aFailureSaysWhatHappened() {
        let failure = NegotiateFailure(host: "a.test", reason: "no ticket")
        #expect((failure as any Error).localizedDescription == "no Negotiate token for a.test: no ticket")
    }

    @Test func hostsAndDomains() {
        var negotiate = Negotiate()
        negotiate.hosts = ["*.Corp.test", "one.test"]
        for host in ["a.corp.test", "A.B.corp.test", "one.test", "ONE.test"] {
            #expect(negotiate.permits(Self.request(host)), "\(host)")
        }
        for host in ["corp.test", "acorp.test", ".corp.test", "a.one.test", "corp.test.evil"] {
            #expect(!negotiate.permits(Self.request(host)), "\(host)")
        }
        #expect(!negotiate.permits(Self.request("a.corp.test", isSecure: false)))
        negotiate.cleartextHosts = ["*.corp.test", "two.test"]
        #expect(negotiate.permits(Self.request("a.corp.test", isSecure: false)))
        #expect(!negotiate.permits(Self.request("two.test", isSecure: false)), "it is not one of the hosts")
    }

    @Test func delegationIsForTheHostsNamed() {
        var negotiate = Negotiate()
        negotiate.delegationHosts = ["a.test"]
        #expect(negotiate.delegates(to: Self.request("a.test")))
        #expect(!negotiate.delegates(to: Self.request("b.test")))
        #expect(!negotiate.delegates(to: Self.request("a.test", isProxy: true)))
    }

    @Test(arguments: ["", "a/b", "a@B.TEST", "a\\b", "a\0b", "a b"])
    func namesThatAreNoHosts(_ host: String) {
        #expect(throws: GSSError.self) { try GSSName(service: "HTTP", host: host, .asWritten) }
    }
}
