import Foundation
import LoadingKit
import TestSupport
import Testing

/// Basic and Digest with Apache.
@Suite(.usesPeers) struct RealServerAuthenticationTests {
    @Test func apache() async throws {
        let server = try await onThread { try ApacheLoginServer() }
        defer { server.stop() }
        let refusing = ChallengeAnswerer { challenge in
            let isFirst = challenge.previousFailureCount == 0
            return (.useCredential, isFirst ? URLCredential(user: "u", password: "no", persistence: .none) : nil)
        }
        let knowing = ChallengeAnswerer("u", "p\u{e4}ss")
        try await withTimeout {
            for name in ["basic", "digest"] {
                let url = try #require(URL(string: server.url("/\(name)/file.txt?query=%22x%22")))
                let refused = makeSession(delegate: refusing)
                defer { refused.invalidateAndCancel() }
                guard case .loaded(status: 401, _) = await refused.outcome(URLRequest(url: url)) else {
                    Issue.record("\(name) lets a wrong password pass")
                    continue
                }
                let session = makeSession(delegate: knowing)
                defer { session.invalidateAndCancel() }
                for _ in 0..<3 { #expect(await session.outcome(URLRequest(url: url)) == .ok("\(name) passed")) }
            }
            #expect(
                knowing.seen.snapshot == ["HTTPBasic basic", "HTTPDigest digest"].map { "task's task: \($0) 0 -" })
        }
    }
}
