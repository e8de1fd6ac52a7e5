/// A difference between two JSON values.
struct JSONDifference: Sendable, Equatable {
    /// The path, such as `$.users[2].name`.
    var path: String
    /// Nil where the expected value has no such member.
    var expected: JSONValue?
    /// Nil where the actual value has no such member.
    var actual: JSONValue?

    /// The first differences, in the order of the members' names.
    ///
    /// - Parameter isWildcard: whether an expected value matches any value.
    static func find(
        expected: JSONValue, actual: JSONValue, atMost limit: Int = 5,
        isWildcard: (JSONValue) -> Bool = { _ in false }
    ) -> [JSONDifference] {
        var found: [JSONDifference] = []
        func compare(_ expected: JSONValue?, _ actual: JSONValue?, _ path: String) {
            guard found.count < limit else { return }
            switch (expected, actual) {
            case (let expected?, _?) where isWildcard(expected): break
            case (.object(let a)?, .object(let b)?):
                for name in Set(a.keys).union(b.keys).sorted() { compare(a[name], b[name], "\(path).\(name)") }
            case (.array(let a)?, .array(let b)?):
                for index in 0..<max(a.count, b.count) where found.count < limit {
                    compare(expected?[index], actual?[index], "\(path)[\(index)]")
                }
            case _:
                if expected != actual { found.append(JSONDifference(path: path, expected: expected, actual: actual)) }
            }
        }
        compare(expected, actual, "$")
        return found
    }
}
