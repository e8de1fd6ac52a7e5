/// The lines of a failed load's record, without times and ports, which differ from run to run.
package func stepLines(_ record: String?) -> [String] {
    (record ?? "none").split(separator: "\n").map { line in
        line.replacing(#/^ *-?\d+\.\d+ s  /#, with: "").replacing(#/ \([0-9.]+ (µs|ms|s)\)/#, with: "")
            .replacing(#/opened [0-9.]+ (µs|ms|s) earlier/#, with: "opened earlier")
            .replacing(#/, after [0-9.]+ (µs|ms|s):/#, with: "").replacing(#/:\d{4,5}/#, with: ":PORT")
    }.map { String($0) }
}
