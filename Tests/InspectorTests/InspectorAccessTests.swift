import Foundation
import LoadingKitHTTP1
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitInspector

/// Who gets something from the inspector's server.
@Suite(.timeLimit(.minutes(5))) struct InspectorAccessTests {
    static let action = ["Content-Type: application/json", "X-Inspector: 1"]
    static let navigation = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]

    /// A request, and the resource or the status that it gets.
    static let requests: [(method: String, target: String, fields: [String], result: String)] = [
        ("GET", "/?token=T", ["Host: 127.0.0.1:80"], "page"),
        ("GET", "/?token=T", ["Host: LOCALHOST:80"], "page"),
        ("GET", "/events?token=T", ["Host: 127.0.0.1:80", "Sec-Fetch-Site: same-origin"], "events"),
        ("GET", "/?token=T", ["Host: 127.0.0.1:80", "Sec-Fetch-Site: none"], "page"),
        ("POST", "/actions?token=T", ["Host: 127.0.0.1:80", "Origin: http://127.0.0.1:80"] + action, "actions"),
        // Without the token, with a part of it, with more.
        ("GET", "/", ["Host: 127.0.0.1:80"], "403"), ("GET", "/?token=", ["Host: 127.0.0.1:80"], "403"),
        ("GET", "/?token=t", ["Host: 127.0.0.1:80"], "403"), ("GET", "/?token=TT", ["Host: 127.0.0.1:80"], "403"),
        ("GET", "/?other=T", ["Host: 127.0.0.1:80"], "403"), ("GET", "/T", ["Host: 127.0.0.1:80"], "403"),
        ("GET", "/events", ["Host: 127.0.0.1:80", "Cookie: token=T"], "403"),
        // A name of somebody else that leads here, and another port.
        ("GET", "/?token=T", ["Host: evil.example:80"], "403"), ("GET", "/?token=T", ["Host: 127.0.0.1"], "403"),
        ("GET", "/?token=T", ["Host: 127.0.0.1:81"], "403"),
        ("GET", "/?token=T", ["Host: 127.0.0.1.evil.example:80"], "403"),
        ("GET", "http://127.0.0.1:80/?token=T", ["Host: evil.example:80"], "403"),
        // Another page of the user's browser.
        ("GET", "/events?token=T", ["Host: 127.0.0.1:80", "Origin: http://evil.example"], "403"),
        ("GET", "/events?token=T", ["Host: 127.0.0.1:80", "Origin: null"], "403"),
        ("GET", "/events?token=T", ["Host: 127.0.0.1:80", "Origin: http://127.0.0.1:8080"], "403"),
        ("GET", "/?token=T", ["Host: 127.0.0.1:80", "Sec-Fetch-Site: cross-site"], "403"),
        ("GET", "/?token=T", ["Host: 127.0.0.1:80", "Sec-Fetch-Site: same-site"], "403"),
        // A document from elsewhere leads the user to the page.
        ("GET", "/?token=T", ["Host: 127.0.0.1:80"] + navigation, "page"),
        ("GET", "/", ["Host: 127.0.0.1:80"] + navigation, "403"),
        ("GET", "/?token=t", ["Host: 127.0.0.1:80"] + navigation, "403"),
        ("POST", "/?token=T", ["Host: 127.0.0.1:80"] + navigation, "405"),
        ("POST", "/?token=T", ["Host: 127.0.0.1:80", "Origin: null"] + navigation, "403"),
        ("GET", "/events?token=T", ["Host: 127.0.0.1:80"] + navigation, "403"),
        ("POST", "/actions?token=T", ["Host: 127.0.0.1:80"] + navigation + action, "403"),
        ("GET", "/?token=T", ["Host: 127.0.0.1:80"] + navigation.dropLast() + ["Sec-Fetch-Dest: iframe"], "403"),
        ("GET", "/?token=T", ["Host: 127.0.0.1:80"] + navigation.dropLast(), "403"),
        // What only a form or a link can make.
        ("POST", "/actions?token=T", ["Host: 127.0.0.1:80", "Content-Type: text/plain", "X-Inspector: 1"], "415"),
        ("POST", "/actions?token=T", ["Host: 127.0.0.1:80", "Content-Type: application/json"], "415"),
        ("GET", "/actions?token=T", ["Host: 127.0.0.1:80"] + action, "405"),
        ("POST", "/events?token=T", ["Host: 127.0.0.1:80"] + action, "405"),
        ("GET", "/other?token=T", ["Host: 127.0.0.1:80"], "404"),
        ("GET", "/../?token=T", ["Host: 127.0.0.1:80"], "404"),
    ]

    @Test(arguments: requests) func request(
        _ method: String, _ target: String, _ fields: [String], _ result: String
    ) throws {
        let access = InspectorAccess(token: "T", port: 80)
        var lines = HTTPFields()
        for field in fields {
            let parts = field.components(separatedBy: ": ")
            lines.append(name: parts[0], value: parts[1])
        }
        let head = RequestHead(method: method, target: target, fields: lines)
        var found = ""
        do throws(InspectorAccess.Refusal) { found = "\(try access.resource(head))" } catch {
            found = "\(error.rawValue)"
        }
        #expect(found == result)
    }

    @Test func tokens() {
        let tokens = Set((0..<100).map { _ in InspectorAccess(port: 1).token })
        #expect(tokens.count == 100 && tokens.allSatisfy { $0.count > 32 })
    }
}
