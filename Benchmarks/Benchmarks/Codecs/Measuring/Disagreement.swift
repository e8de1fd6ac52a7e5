/// Contenders did not come to the same result, so that their times cannot be compared.
struct Disagreement: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Throws where two results differ.
    static func check<Value: Equatable>(_ what: String, _ a: Value, _ b: Value) throws {
        guard a != b else { return }
        throw Disagreement(
            "\(what): \(String(describing: a).prefix(2000)) is not \(String(describing: b).prefix(2000))")
    }
}
