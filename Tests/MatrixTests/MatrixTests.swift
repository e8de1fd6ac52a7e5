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
        #expect(Matrix.rows(.configuration).map(\.name).sorted() == names.sorted())
    }

    @Test func eachPropertyOfARequestHasARow() {
        let storage = RequestStorage(url: nil)
        let names = Self.properties(storage).filter { $0 != "options" } + Self.properties(storage.options)
        #expect(names.count > 20)
        #expect(Matrix.rows(.request).map(\.name).sorted() == names.sorted())
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
        #expect(isSame, "SettingsAndPaths.md is not what LOADINGKIT_WRITE_MATRIX=1 writes")
    }

    @Test func noCellIsEmptyAndNoneIsThereTwice() {
        for row in Matrix.rows {
            #expect(row.empty == [], "\(row.name)")
            #expect(row.cells.count == MatrixPath.allCases.count, "\(row.name)")
        }
    }
}
