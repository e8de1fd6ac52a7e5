import Foundation

/// Does one kind of work with a number of elements, for an instruction counter to watch. Run by `GrowthTests`.
///
///     GrowthProbe NAME COUNT
///
/// Not asynchronous: the main thread of such a program waits in a way that Valgrind 3.19 does not survive.
@main enum GrowthProbe {
    /// With a count of 0 a row does all that it does once, and nothing for an element.
    typealias Row = (_ count: Int) throws -> Void

    private static var rows: [String: Row] {
        [TaskRows.all, SessionRows.all, QueueRows.all, AnswerRows.all, RedactionRows.all]
            .reduce(into: [:]) { $0.merge($1) { $1 } }
    }

    static func main() throws {
        let rows = rows
        let arguments = CommandLine.arguments.dropFirst()
        guard let row = arguments.first.flatMap({ rows[$0] }), let count = arguments.last.flatMap({ Int($0) }) else {
            print("usage: GrowthProbe NAME COUNT, of \(rows.keys.sorted())")
            exit(2)
        }
        try row(count)
        // Without what a process does at its end.
        _exit(0)
    }
}
