import Foundation
import Testing

/// The table of `SecurityModel.md` has no empty cell, its tests are there, and it is the one of ``IdentityTable``.
@Suite struct IdentityTableTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func noCellIsEmpty() {
        let empty = IdentityTable.Path.allCases.flatMap { path in
            IdentityTable.Pair.allCases.filter { IdentityTable.cell($0, path) == nil }.map { "\($0), \(path)" }
        }
        #expect(empty == [])
    }

    @Test func theTestsAreThere() throws {
        let tests = Self.root.appendingPathComponent("Tests")
        let names = IdentityTable.Path.allCases.flatMap { path in
            IdentityTable.Pair.allCases.compactMap { pair -> String? in
                guard case .test(let name)? = IdentityTable.cell(pair, path) else { return nil }
                return name
            }
        }
        var missing = Set(names)
        let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL, !missing.isEmpty {
            let type = file.deletingPathExtension().lastPathComponent
            guard file.pathExtension == "swift", missing.contains(where: { $0.hasPrefix("\(type).") }) else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            missing = missing.filter { name in
                let parts = name.split(separator: ".")
                return parts[0] != type || !text.contains("func \(parts[1])(")
            }
        }
        #expect(missing == [])
    }

    @Test func thePageHasTheTable() throws {
        let page = Self.root.appendingPathComponent("Sources/LoadingKit/LoadingKit/LoadingKit.docc/SecurityModel.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let beginning = try #require(text.range(of: "| path | sessions |"))
        let end = try #require(text[beginning.lowerBound...].range(of: "\n### "))
        if ProcessInfo.processInfo.environment["LOADINGKIT_WRITE_IDENTITY_TABLE"] != nil {
            let new = text[..<beginning.lowerBound] + IdentityTable.markdown + text[end.lowerBound...]
            return try new.write(to: page, atomically: true, encoding: .utf8)
        }
        #expect(String(text[beginning.lowerBound..<end.lowerBound]) == IdentityTable.markdown)
    }
}
