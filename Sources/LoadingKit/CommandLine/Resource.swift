/// A text that is part of the program (`Resources`).
struct Resource {
    let text: String

    /// - Parameter values: what replaces each `{{name}}` in the text.
    init(_ bytes: [UInt8], _ values: [String: String] = [:]) {
        self.init(String(decoding: bytes, as: UTF8.self), values)
    }

    init(_ template: String, _ values: [String: String]) {
        var parts = template.split(separator: "{{", omittingEmptySubsequences: false)[...]
        var text = String(parts.popFirst() ?? "")
        for part in parts {
            let pieces = part.split(separator: "}}", maxSplits: 1, omittingEmptySubsequences: false)
            text += pieces.first.flatMap { values[String($0)] } ?? ""
            text += pieces.dropFirst().joined()
        }
        self.text = text
    }
}
