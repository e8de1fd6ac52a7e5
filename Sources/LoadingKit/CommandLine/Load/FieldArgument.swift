import Foundation
import LoadingKit

/// A field as `-H` has it.
enum FieldArgument: Hashable {
    case set(name: String, value: String)
    case remove(name: String)

    /// `Name: value`; `Name:` removes what would be sent; `Name;` sends the field without a value.
    init(_ text: String) throws {
        guard let end = text.firstIndex(where: { $0 == ":" || $0 == ";" }), end > text.startIndex else {
            throw ToolFailure(.usage, "-H needs 'Name: value', not '\(text)'")
        }
        let name = String(text[..<end])
        let value = text[text.index(after: end)...].trimmingCharacters(in: .whitespaces)
        if text[end] == ":" {
            self = value.isEmpty ? .remove(name: name) : .set(name: name, value: value)
        } else {
            guard value.isEmpty else { throw ToolFailure(.usage, "-H needs 'Name: value', not '\(text)'") }
            self = .set(name: name, value: "")
        }
    }

    /// The first of a name replaces what the tool itself would send; further ones add to it.
    static func apply(_ fields: [FieldArgument], to request: inout URLRequest) {
        var seen: Set<String> = []
        for field in fields {
            switch field {
            case .remove(let name): request.setValue(nil, forHTTPHeaderField: name)
            case .set(let name, let value) where seen.insert(name.lowercased()).inserted:
                request.setValue(value, forHTTPHeaderField: name)
            case .set(let name, let value): request.addValue(value, forHTTPHeaderField: name)
            }
        }
    }
}
