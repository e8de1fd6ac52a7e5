import Foundation

extension HeaderStory {
    /// The folder of the conformance data: what `LOADINGKIT_CONFORMANCE` names, else `../shared/conformance`, seen from
    /// the repository.
    private static var conformanceFolder: URL {
        if let path = ProcessInfo.processInfo.environment["LOADINGKIT_CONFORMANCE"] { return URL(filePath: path) }
        return URL(filePath: #filePath).appending(path: "../../../../../../shared/conformance").standardized
    }

    /// The stories that nghttp2 encoded; none where there is no conformance data.
    static func conformance() throws -> [HeaderStory] {
        let folder = conformanceFolder.appending(path: "hpack/nghttp2")
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }.map { file in
            try JSONDecoder().decode(StoryFile.self, from: Data(contentsOf: file)).story()
        }
    }
}

/// A story as the conformance data has it.
private struct StoryFile: Decodable {
    struct Case: Decodable {
        let wire: String
        let headers: [[String: String]]
    }

    let cases: [Case]

    func story() throws -> HeaderStory {
        HeaderStory(
            cases.map { HeaderList(lines: $0.headers.flatMap { $0.map { FieldLine($0.key, $0.value) } }) },
            blocks: try cases.map { try Self.bytes(hexadecimal: $0.wire) })
    }

    private static func bytes(hexadecimal text: String) throws -> [UInt8] {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else {
            throw Disagreement("a block of the conformance data is not hexadecimal: \(text)")
        }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
