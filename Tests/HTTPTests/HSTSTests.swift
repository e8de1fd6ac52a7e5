import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

@Suite struct HSTSTests {
    /// A host that has said so is reached by https when http is asked for; the first request went in the clear.
    @Test(arguments: BothVersions.all) func isFollowed(version: String) async throws {
        try await BothVersions.withServer(
            version,
            { request in
                var response = ServerResponse.text(request.tls == nil ? "clear" : "secured")
                response.fields.append(name: "Strict-Transport-Security", value: "max-age=600")
                return response
            }
        ) { session, server in
            let secured = try #require(URL(string: server.url("/", host: "localhost")))
            var components = try #require(URLComponents(url: secured, resolvingAgainstBaseURL: false))
            components.scheme = "http"
            let cleartext = URLRequest(url: try #require(components.url))
            let before = await session.outcome(cleartext)
            #expect(before != .ok("secured"))
            let taught = await session.outcome(URLRequest(url: secured))
            #expect(taught == .ok("secured"))
            let (data, response) = try await session.data(for: cleartext)
            #expect(data == Data("secured".utf8) && response.url == secured)
            // The first letter is in another form, which is escaped.
            let text = try #require(components.string).replacing("localhost", with: "%EF%BD%8Cocalhost")
            let sameHost = await session.outcome(URLRequest(url: try #require(URL(string: text))))
            #expect(sameHost == .ok("secured"))
            let other = makeSession()
            let unaware = await other.outcome(cleartext)
            #expect(unaware != .ok("secured"))
        }
    }
}
