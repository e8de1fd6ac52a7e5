import Foundation
import LoadingKit
import MatrixPaths
import Testing

@testable import LoadingKitCore

/// Each setting and each property of a request, on each path.
@Suite(.timeLimit(.minutes(5))) struct MatrixTests {
    @Test(arguments: Matrix.tests) func hasItsEffect(_ cell: CellTest) async throws { try await cell.run(cell.path) }

    /// The stored properties, as they are: one that is added without a row is missed.
    private static func properties(_ value: Any) -> [String] { Mirror(reflecting: value).children.compactMap(\.label) }

    @Test func eachSettingHasARow() {
        let names = Self.properties(SessionSettings())
        #expect(names.count > 50)
        expectRows(.configuration, of: names)
    }

    @Test func eachPropertyOfARequestHasARow() {
        let storage = RequestStorage(url: nil)
        let names = Self.properties(storage).filter { $0 != "options" } + Self.properties(storage.options)
        #expect(names.count > 20)
        expectRows(.request, of: names)
    }

    private func expectRows(_ subject: Row.Subject, of names: [String]) {
        let rows = Matrix.rows(subject).map(\.name)
        #expect(
            Set(names).subtracting(rows).sorted() == [],
            "without a row: add one to a Rows+….swift of Tests/MatrixTests, as CONTRIBUTING.md describes")
        #expect(Set(rows).subtracting(names).sorted() == [], "rows of properties that are not there")
        #expect(Set(rows).count == rows.count, "a property has two rows")
    }

    /// `LOADINGKIT_WRITE_MATRIX=1` writes it anew.
    @Test func thePageIsTheMatrix() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/LoadingKit/LoadingKit/LoadingKit.docc/SettingsAndPaths.md")
        if ProcessInfo.processInfo.environment["LOADINGKIT_WRITE_MATRIX"] != nil {
            try MatrixPage.text.write(to: page, atomically: true, encoding: .utf8)
        }
        let isSame = try String(contentsOf: page, encoding: .utf8) == MatrixPage.text
        #expect(
            isSame, "run the test with LOADINGKIT_WRITE_MATRIX=1, and read the difference of SettingsAndPaths.md")
    }

    @Test func noCellIsEmptyAndNoneIsThereTwice() {
        for row in Matrix.rows {
            #expect(row.empty == [], "\(row.name) says nothing about these paths: add .on(…) or .not(…) for them")
            let paths = row.cells.map(\.path)
            #expect(Set(paths).count == paths.count, "\(row.name) speaks of a path twice")
        }
    }
}
