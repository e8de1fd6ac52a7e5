import LoadingKitHTTP1

/// A name and its value.
struct FieldLine: Equatable, Sendable {
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// From a line of a head.
    init(line: String) {
        let name = line.prefix { $0 != ":" }
        self.init(String(name), line.dropFirst(name.count + 1).trimmingPrefix { $0 == " " }.description)
    }
}

extension HTTPFields {
    init(_ fields: [FieldLine]) {
        self.init()
        for field in fields { append(name: field.name, value: field.value) }
    }
}
