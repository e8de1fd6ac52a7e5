import Foundation
import LoadingKit
import MemScheme
import Testing

@Test func aFileBecomesAnEntry() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mem-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("hello".utf8).write(to: folder.appendingPathComponent("greeting"))
    let store = MemStore(folder: folder)
    #expect(try await load("mem:greeting", from: store).data == Data("hello".utf8))
    #expect(store["greeting"]?.data.count == 5)
    #expect(try await load("mem:other", from: store).response.statusCode == 404)
}
