import Foundation
import TestSupport

/// A series of header lists of the conformance table that share a dynamic table.
struct Story: Decodable {
    struct Case: Decodable {
        var wire: String?
        var headers: [[String: String]]
        var tableSize: Int?

        enum CodingKeys: String, CodingKey {
            case wire, headers
            case tableSize = "header_table_size"
        }

        var pairs: [Pair] { headers.flatMap { $0.map { Pair($0.key, $0.value) } } }
    }

    var cases: [Case]

    static func stories(in folder: String) throws -> [(name: String, story: Story)] {
        let urls = try FileManager.default.contentsOfDirectory(
            at: ConformanceTable.hpack.url(folder), includingPropertiesForKeys: nil)
        return try urls.filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }.map { url in
            (url.lastPathComponent, try JSONDecoder().decode(Story.self, from: Data(contentsOf: url)))
        }
    }
}
