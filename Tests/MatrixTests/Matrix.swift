import MatrixPaths
import Testing

/// All rows.
enum Matrix {
    static let rows: [Row] =
        Row.fields + Row.cache + Row.connections + Row.trust + Row.time + Row.handlers + Row.background + Row.requests
        + Row.withoutEffect

    static func rows(_ subject: Row.Subject) -> [Row] { rows.filter { $0.subject == subject } }

    static let tests: [CellTest] = rows.flatMap { row in
        MatrixPath.allCases.compactMap { path in
            switch row.cell(path) {
            case .test(let run)?: CellTest(name: row.name, subject: row.subject, path: path, run: run)
            case .open(let what, let run)?:
                CellTest(name: row.name, subject: row.subject, path: path) { path in
                    // It may have been mended, in another change.
                    await withKnownIssue(Comment(rawValue: what), isIntermittent: true) { try await run(path) }
                }
            case .reason?, nil: nil
            }
        }
    }
}

struct CellTest: Sendable, CustomTestStringConvertible {
    let name: String
    let subject: Row.Subject
    let path: MatrixPath
    let run: @Sendable (MatrixPath) async throws -> Void

    var testDescription: String { "\(subject.rawValue).\(name), \(path.rawValue)" }
}
