/// How what was observed is written down.

/// `nil`, or the value.
func shown<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "nil" }

/// In the order of the keys.
func shown(_ fields: [String: String]?) -> String {
    fields.map { fields in fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") }
        ?? "nil"
}

func shown(_ data: Data?) -> String { data.map { String(decoding: $0, as: UTF8.self) } ?? "nil" }

/// The error's code, and where it says so the URL that failed.
func shown(_ error: (any Error)?) -> String {
    guard let error else { return "ok" }
    guard let error = error as? URLError else { return "\(type(of: error))" }
    return "URLError \(error.code.rawValue)"
}

/// Whether coding an object and decoding it gives an equal one.
func survivesCoding<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> String {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    return "\(try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data) == object)"
}

func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    return url
}

/// Whether two values that are made alike, and exist at the same time, have one hash.
func haveSameHash(_ make: () throws -> NSObject) rethrows -> Bool {
    let (one, other) = (try make(), try make())
    return withExtendedLifetime((one, other)) { one.hash == other.hash }
}
