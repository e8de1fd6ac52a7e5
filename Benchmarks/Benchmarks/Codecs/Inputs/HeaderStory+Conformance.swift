import Foundation

extension HeaderStory {
    /// The folder of the stories that nghttp2 encoded, in what `LOADINGKIT_CONFORMANCE` names, else in
    /// `../shared/conformance`, seen from the repository.
    static let conformanceFolder: URL = {
        let path = ProcessInfo.processInfo.environment["LOADINGKIT_CONFORMANCE"] ?? ""
        let folder =
            path.isEmpty
            ? URL(filePath: #filePath).appending(path: "../../../../../../shared/conformance").standardized
            : URL(filePath: path)
        return folder.appending(path: "hpack/nghttp2")
    }()

    /// The stories that nghttp2 encoded; none where there is no conformance data.
    static func conformance() throws -> [HeaderStory] {
        guard FileManager.default.fileExists(atPath: conformanceFolder.path) else { return [] }
        let files = try FileManager.default.contentsOfDirectory(at: conformanceFolder, includingPropertiesForKeys: nil)
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
