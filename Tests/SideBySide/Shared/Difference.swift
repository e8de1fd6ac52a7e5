/// Where FoundationNetworking shows something else, and why that is its fault.
struct Difference: Sendable {
    /// What it shows; nil where it cannot be run.
    let theirs: String?
    let reason: String

    var canRun: Bool { theirs != nil }

    static func shows(_ theirs: String, _ reason: String) -> Difference { Difference(theirs: theirs, reason: reason) }

    /// Ends the process.
    static func crashes(_ reason: String) -> Difference { Difference(theirs: nil, reason: reason) }

    /// Not the same each time.
    static func varies(_ reason: String) -> Difference { Difference(theirs: nil, reason: reason) }

    /// Never ends.
    static func hangs(_ reason: String) -> Difference { Difference(theirs: nil, reason: reason) }

    /// Ends with an error of no use in a comparison.
    static func fails(_ reason: String) -> Difference { Difference(theirs: nil, reason: reason) }

    /// By the name of the behaviour.
    static let all = [ofValues, ofLoads, ofRequestEdges, ofResponseEdges, ofCookieEdges, ofStoreEdges, ofLoadEdges]
        .reduce(into: [:]) { all, some in all.merge(some) { first, _ in first } }
}
