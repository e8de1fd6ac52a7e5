import Foundation
import TestSupport
import Testing

@testable import LoadingKitInspector

/// The inspector's page. `Scripts/inspector.py` checks what it does in a browser.
@Suite(.timeLimit(.minutes(5))) struct InspectorPageTests {
    /// Texts in a recording and its name.
    static let hostile = [
        "</script><script>alert(1)</script>", "<!--<script>", "\u{2028}\u{2029}", "\"\\\u{0}\u{1b}",
        "{{nonce}}{{script}}{{recording}}", "]]>&lt;", "😀",
    ]

    @Test(arguments: hostile) func hostileTexts(_ text: String) throws {
        let recording = try JSONEncoder().encode(["log": ["entries": [text]]])
        let page = InspectorPage(name: text, recording: recording, nonce: "NONCE")
        let html = String(decoding: page.bytes, as: UTF8.self)
        let plain = String(decoding: InspectorPage(name: "", recording: [], nonce: "NONCE").bytes, as: UTF8.self)
        // The recording adds no element: the page has as many tags as without it.
        #expect(html.components(separatedBy: "<").count == plain.components(separatedBy: "<").count)
        #expect(try Self.element("recording-name", of: html, as: String.self) == text)
        #expect(
            try Self.element("recording", of: html, as: [String: [String: [String]]].self) == [
                "log": ["entries": [text]]
            ])
    }

    private static func element<Value: Decodable>(_ id: String, of html: String, as type: Value.Type) throws -> Value {
        let rest = try #require(html.components(separatedBy: "id=\"\(id)\">").dropFirst().first)
        let text = try #require(rest.components(separatedBy: "</script>").first)
        return try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    @Test func page() throws {
        let pages = (0..<2).map { _ in InspectorPage(name: "a", recording: "{}".utf8) }
        let texts = pages.map { String(decoding: $0.bytes, as: UTF8.self) }
        let policies = texts.map { $0.firstMatch(of: /Content-Security-Policy" content="([^"]*)"/)?.output.1 ?? "" }
        #expect(policies[0].hasPrefix("default-src 'none';") && policies[0] != policies[1])
        for forbidden in ["connect-src", "unsafe", "http:", "https:", "*"] { #expect(!policies[0].contains(forbidden)) }
        for text in texts {
            let nonces = text.matches(of: /nonce="([^"]*)"/).map(\.output.1)
            #expect(nonces.count == 2 && Set(nonces).count == 1 && nonces[0].count == 24)
            // No part of a template is left, and nothing is loaded from elsewhere.
            #expect(!text.contains("{{") && text.firstMatch(of: /(src|href)="/) == nil)
        }
        let script = String(decoding: InspectorPage.script, as: UTF8.self)
        for end in ["</script", "<!--", "innerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            #expect(!script.contains(end), "\(end)")
        }
        #expect(!String(decoding: PackageResources.inspector_css, as: UTF8.self).contains("</"))
    }

    @Test func livePage() {
        let page = InspectorPage.live(name: "program", nonce: "NONCE")
        let html = String(decoding: page.bytes, as: UTF8.self)
        // It reaches the server that it comes from, and nothing else.
        #expect(page.policy.contains("default-src 'none'; ") && page.policy.contains("connect-src 'self'; "))
        #expect(html.contains("content=\"\(page.policy)\"") && html.contains("id=\"recording\"></script>"))
        #expect(!InspectorPage(name: "program", recording: "{}".utf8).policy.contains("connect-src"))
    }
}
