import Foundation
import TestSupport
import Testing

/// `loadkit --negotiate`, with MIT's KDC and Apache.
@Suite(.usesPeers) struct NegotiateToolTests {
    @Test(arguments: [false, true]) func theUsersTicket(_ isSecure: Bool) async throws {
        try await NegotiateSite.with { site in
            let folder = try TemporaryFolder()
            try folder.write(site.authority.certificatePEM, to: "ca.pem")
            let url = site.apache.url("/request/", isSecure: isSecure)
            let environment = site.realm.clientEnvironment(try await site.ticket(of: "alice"))
            for options in [["--negotiate"], ["--negotiate", "-u", ":"], ["--anyauth"]] {
                let run = try await ProgramRun(
                    "loadkit", options + ["-f", "--cacert", "ca.pem", url], folder: folder, environment: environment)
                #expect(run.status == 0 && run.text == "alice@LK.TEST GET 0", "\(options) \(run.errors)")
            }
            // Without the option, or without a ticket, there is none.
            for (options, cache) in [([], environment), (["--negotiate"], site.realm.clientEnvironment(nil))] {
                let run = try await ProgramRun(
                    "loadkit", options + ["-f", "--cacert", "ca.pem", url], folder: folder, environment: cache)
                #expect(run.status == 22 && run.text.isEmpty, "\(run.errors)")
            }
        }
    }
}
