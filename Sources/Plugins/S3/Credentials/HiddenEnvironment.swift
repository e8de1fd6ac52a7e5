/// Environment variables, which may contain secrets: descriptions and `dump` show none of them.
struct HiddenEnvironment: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var values: [String: String]

    init(_ values: [String: String]) { self.values = values }

    /// The value of a variable; nil where it is missing or empty.
    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    var description: String { "an environment of \(values.count) variables" }

    var debugDescription: String { description }

    var customMirror: Mirror { Mirror(self, children: ["count": values.count]) }
}
