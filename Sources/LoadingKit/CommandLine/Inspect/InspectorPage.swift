#if CommandLineTool
    import Foundation

    /// The page that shows a recording: one file with its style, its program and the data.
    ///
    /// The page's policy permits no script but the page's own, and no network. The data is JSON in which nothing can
    /// end the element that holds it, and the program shows its texts as texts alone.
    struct InspectorPage {
        /// The file's bytes.
        let bytes: [UInt8]

        /// - Parameters:
        ///   - name: the recording's name, of any characters.
        ///   - recording: JSON in UTF-8.
        ///   - nonce: a random value, by which the policy knows the page's own script and style (CSP 3, section 2.3.1).
        init(name: String, recording: some Collection<UInt8>, nonce: String = Self.randomNonce()) {
            let values = [
                "policy": Self.policy(nonce), "nonce": nonce,
                "style": Resource(plain: PackageResources.inspector_css).text,
                "script": Resource(plain: PackageResources.inspector_js).text,
                "name": String(decoding: Self.embedded(Self.json(name)), as: UTF8.self),
            ]
            let template = String(decoding: PackageResources.inspector_html, as: UTF8.self)
            let parts = template.components(separatedBy: "{{recording}}")
            var bytes = Array(Resource(parts.first ?? "", values).text.utf8)
            bytes += Self.embedded(recording)
            bytes += parts.dropFirst().flatMap { Array(Resource($0, values).text.utf8) }
            self.bytes = bytes
        }

        static func policy(_ nonce: String) -> String {
            """
            default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; img-src data:; \
            base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'
            """
        }

        static func randomNonce() -> String {
            var generator = SystemRandomNumberGenerator()
            return Data((0..<18).map { _ in UInt8.random(in: .min ... .max, using: &generator) }).base64EncodedString()
        }

        /// A string as JSON.
        private static func json(_ text: String) -> [UInt8] {
            // An encoder fails for numbers alone.
            (try? JSONEncoder().encode(text)).map { Array($0) } ?? Array("\"\"".utf8)
        }

        /// JSON for an element of a page. Without `<` there is no `</script>` and no `<!--` in it.
        static func embedded(_ json: some Collection<UInt8>) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(json.count)
            for byte in json {
                if byte == UInt8(ascii: "<") { bytes += "\\u003c".utf8 } else { bytes.append(byte) }
            }
            return bytes
        }
    }
#endif
