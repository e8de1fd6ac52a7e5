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
        compare(expected, actual, "$", limit, isWildcard, &found)
        return found
    }

    private static func compare(
        _ expected: JSONValue, _ actual: JSONValue, _ path: String, _ limit: Int,
        _ isWildcard: (JSONValue) -> Bool, _ found: inout [JSONDifference]
    ) {
        guard found.count < limit, !isWildcard(expected) else { return }
        switch (expected, actual) {
        case (.object(let a), .object(let b)):
            for name in Set(a.keys).union(b.keys).sorted() {
                compare(a[name], b[name], "\(path).\(name)", limit, isWildcard, &found)
            }
        case (.array(let a), .array(let b)):
            for index in 0..<max(a.count, b.count) {
                guard found.count < limit else { return }
                compare(
                    index < a.count ? a[index] : nil, index < b.count ? b[index] : nil, "\(path)[\(index)]", limit,
                    isWildcard, &found)
            }
        case _:
            if expected != actual { found.append(JSONDifference(path: path, expected: expected, actual: actual)) }
        }
    }

    private static func compare(
        _ expected: JSONValue?, _ actual: JSONValue?, _ path: String, _ limit: Int,
        _ isWildcard: (JSONValue) -> Bool, _ found: inout [JSONDifference]
    ) {
        switch (expected, actual) {
        case (let expected?, let actual?): compare(expected, actual, path, limit, isWildcard, &found)
        case _:
            if found.count < limit {
                found.append(JSONDifference(path: path, expected: expected, actual: actual))
            }
        }
    }
}
