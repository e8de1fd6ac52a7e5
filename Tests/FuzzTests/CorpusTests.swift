import Foundation
import Testing

/// The corpora of the fuzz targets, as regression cases. `make fuzz` looks for further inputs.
@Suite struct CorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("../../Fuzzing/Corpora").standardizedFileURL

    private static func inputs(of name: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: folder.appendingPathComponent(name), includingPropertiesForKeys: nil)
    }

    @Test(arguments: FuzzTarget.all.map(\.name)) func corpus(_ name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let inputs = try Self.inputs(of: name)
        #expect(!inputs.isEmpty)
        for input in inputs {
            let bytes = try Data(contentsOf: input)
            #expect(throws: Never.self, "\(input.lastPathComponent)") { try target.run(bytes) }
        }
        // Inputs end anywhere.
        #expect(throws: Never.self) { try target.run([]) }
    }

    @Test func eachCorpusHasATarget() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }
}
