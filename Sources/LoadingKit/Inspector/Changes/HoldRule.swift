import LoadingKitHAR

/// Which requests and responses the page holds.
struct HoldRule: Sendable {
    enum Stage: String, Sendable {
        case request, response, both
    }

    let id: String
    let stage: Stage
    /// In upper case; empty for all methods.
    let method: String
    /// The words that a URL must have, and after a `-` those that it must not have, in lower case.
    private let words: [Substring]
    private let text: String
    let isOn: Bool

    /// Nil where the value is no rule.
    init?(_ value: JSONValue) {
        guard let id = value["id"]?.string, let stage = value["stage"]?.string.flatMap(Stage.init) else { return nil }
        self.id = id
        self.stage = stage
        method = value["method"]?.string?.uppercased() ?? ""
        text = value["words"]?.string ?? ""
        words = text.lowercased().split(separator: " ")
        isOn = value["isOn"]?.bool ?? true
    }

    var value: JSONValue {
        [
            "id": .string(id), "stage": .string(stage.rawValue), "method": .string(method), "words": .string(text),
            "isOn": .bool(isOn),
        ]
    }

    func holds(_ stage: Stage, method: String, url: String) -> Bool {
        guard isOn, self.stage == stage || self.stage == .both else { return false }
        guard self.method.isEmpty || self.method == method.uppercased() else { return false }
        let url = url.lowercased()
        return words.allSatisfy { $0.hasPrefix("-") ? !url.contains($0.dropFirst()) : url.contains($0) }
    }
}
