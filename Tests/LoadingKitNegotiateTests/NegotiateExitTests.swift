import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Programs that end while their loads authenticate themselves.
@Suite struct NegotiateExitTests {
    /// The Kerberos library destroys its locks at a process's end, and ended the process with SIGABRT if a thread still called it.
    /// The probe's exit waits until one of its loads was told that the process is exiting.
    @Test func programsThatEndInMidWorkEndInOrder() async throws {
        let server = try LoopbackServer { _ in
            ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Negotiate")
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let settings = "[libdefaults]\ndefault_realm = LK.TEST\ndns_lookup_kdc = false\ndns_lookup_realm = false\n"
        let environment = [
            "KRB5_CONFIG": try folder.write(settings, to: "krb5.conf").path,
            "KRB5CCNAME": "FILE:" + folder.file("tickets").path,
        ]
        let (probe, url) = (try ProgramRun.executable("NegotiateProbe"), server.url(host: "localhost"))
        let statuses = try await onThread {
            try (0..<10).map { number in
                try ChildProcess(probe, [url, "\(number * 1000)"], environment: environment).waitForExit()
            }
        }
        #expect(statuses == [Int32](repeating: 0, count: 10))
    }
}
