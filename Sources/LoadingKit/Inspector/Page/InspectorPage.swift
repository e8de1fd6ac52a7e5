import Foundation

/// The page that shows HTTP traffic: one file with its style and its program, and with the data of a recording, or with
/// the address of a program that sends it.
///
/// The page's policy permits no script but the page's own, and no network but a running program's. The data is JSON in
/// which nothing can end the element that holds it, and the page's program shows its texts as texts alone.
package struct InspectorPage {
    /// The file's bytes.
    package let bytes: [UInt8]
    /// The page's content security policy (CSP 3), which is in the file, too.
    package let policy: String

    /// The page of a recording.
    ///
    /// - Parameters:
    ///   - name: the recording's name, of any characters.
    ///   - recording: JSON in UTF-8.
    ///   - nonce: a random value, by which the policy knows the page's own script and style (CSP 3, section 2.3.1).
    package init(name: String, recording: some Collection<UInt8>, nonce: String = Self.randomNonce()) {
        self.init(name, recording, nonce, connects: false)
    }

    /// The page of a running program, whose events it gets from the server that it comes from.
    package static func live(name: String, nonce: String = Self.randomNonce()) -> InspectorPage {
        InspectorPage(name, [], nonce, connects: true)
    }

    private init(_ name: String, _ recording: some Collection<UInt8>, _ nonce: String, connects: Bool) {
        policy = """
            default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; img-src data:; \
            \(connects ? "connect-src 'self'; " : "")base-uri 'none'; form-action 'none'; \
            require-trusted-types-for 'script'; trusted-types 'none'
            """
        let values = [
            "policy": Array(policy.utf8), "nonce": Array(nonce.utf8), "style": PackageResources.inspector_css,
            "script": Self.script, "name": Self.embedded(Self.json(name)),
            "recording": Self.embedded(recording),
        ]
        bytes = Self.filled(PackageResources.inspector_html, values)
    }

    /// The page's program: one function, whose parts use each other's names.
    static let script = [
        PackageResources.values_js, PackageResources.store_js, PackageResources.list_js, PackageResources.details_js,
        PackageResources.bodies_js, PackageResources.connections_js, PackageResources.files_js,
        PackageResources.live_js,
        PackageResources.held_js, PackageResources.rules_js, PackageResources.start_js,
    ].flatMap { $0 }

    /// The template with a value in place of each `{{name}}`. In values `{{` has no meaning.
    private static func filled(_ template: [UInt8], _ values: [String: [UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, part) in String(decoding: template, as: UTF8.self).components(separatedBy: "{{").enumerated() {
            let pieces = part.components(separatedBy: "}}")
            if index > 0 { bytes += pieces.first.flatMap { values[$0] } ?? [] }
            bytes += pieces.dropFirst(index > 0 ? 1 : 0).joined(separator: "}}").utf8
        }
        return bytes
    }

    package static func randomNonce() -> String {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<18).map { _ in UInt8.random(in: .min ... .max, using: &generator) }).base64EncodedString()
    }

    /// A string as JSON.
    private static func json(_ text: String) -> [UInt8] {
        // An encoder fails for numbers alone.
        (try? JSONEncoder().encode(text)).map { Array($0) } ?? Array("\"\"".utf8)
    }

    /// JSON for an element of a page. Without `<` there is no `</script>` and no `<!--` in it.
    private static func embedded(_ json: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(json.count)
        for byte in json {
            if byte == UInt8(ascii: "<") { bytes += "\\u003c".utf8 } else { bytes.append(byte) }
        }
        return bytes
    }
}
