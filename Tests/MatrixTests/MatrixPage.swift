import MatrixPaths

/// The matrix as a page of the documentation.
enum MatrixPage {
    static var text: String {
        var notes: [String] = []
        let tables = Row.Subject.allCases.map { table($0, &notes) }
        let cells = Matrix.rows.flatMap(\.cells).map(\.cell)
        let tests = cells.count { if case .test = $0 { true } else { false } }
        let open = cells.count { if case .open = $0 { true } else { false } }
        return """
            # Settings and paths

            Where each setting of a configuration, and each property of a request, has its effect.

            A request takes one of several paths through the library. What a setting does must not depend on the path. Each `✓`
            stands for a test that observes the effect: by what the server saw, or what the program was told. A number stands for
            the reason below why there is nothing to observe. The page is made by `MatrixTests`, which fail where a setting or a
            property is in no row, or a cell is empty.

            ## Settings of a configuration

            \(tables[0])

            ## Properties of a request

            \(tables[1])

            ## Reasons

            \(notes.enumerated().map { "\($0 + 1). \($1)" }.joined(separator: "\n"))

            ## How many

            \(Matrix.rows.count) rows, \(MatrixPath.allCases.count) paths: \(cells.count) cells, of which \(tests) are tested, \
            \(cells.count - tests - open) have a reason, and \(open) are known to be wrong.

            """
    }

    private static func table(_ subject: Row.Subject, _ notes: inout [String]) -> String {
        var lines = ["| | " + MatrixPath.allCases.map(\.rawValue).joined(separator: " | ") + " |"]
        lines.append("|" + String(repeating: "---|", count: MatrixPath.allCases.count + 1))
        for row in Matrix.rows(subject).sorted(by: { $0.shownTitle < $1.shownTitle }) {
            let cells = MatrixPath.allCases.map { sign(row.cell($0), &notes) }
            lines.append("| \(row.shownTitle) | " + cells.joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n")
    }

    private static func sign(_ cell: Row.Cell?, _ notes: inout [String]) -> String {
        switch cell {
        case .test?: "✓"
        case .reason(let text)?: number(of: text, &notes)
        case .open(let text, _)?: number(of: "Wrong: " + text, &notes)
        case nil: ""
        }
    }

    private static func number(of note: String, _ notes: inout [String]) -> String {
        if let place = notes.firstIndex(of: note) { return "\(place + 1)" }
        notes.append(note)
        return "\(notes.count)"
    }
}

extension Row {
    /// A name that stands in code is written as such.
    fileprivate var shownTitle: String {
        let text = title ?? name
        return text.contains(" ") ? text : "`\(text)`"
    }
}
