import Foundation
import Testing

/// The snippets of the documentation are compiled with these tests: `Scripts/snippets.py` makes functions of them.
@Suite struct SnippetTests {
    /// A page whose snippets the script does not find would not be checked.
    @Test func allPagesAreCompiled() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let pages = try #require(
            FileManager.default.enumerator(at: root.appending(path: "Sources"), includingPropertiesForKeys: nil))
        var names = ["README"]
        for case let page as URL in pages where page.pathExtension == "md" {
            let text = try String(contentsOf: page, encoding: .utf8)
            if text.contains("```swift\n") { names.append(page.deletingPathExtension().lastPathComponent) }
        }
        #expect(names.count > 15)
        let tutorials = ["WriteAScheme", "WriteAnInterceptor"]
        for name in names where !tutorials.contains(name) { #expect(compiledPages.contains(name), "\(name).md") }
    }
}
