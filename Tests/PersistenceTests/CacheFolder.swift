#if Persistence
    import Foundation
    import LoadingKitCore
    import TestSupport

    @testable import LoadingKitPersistence

    /// A folder for a cache's store, and what to store there.
    final class CacheFolder: Sendable {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        var url: URL { folder.file("own") }

        /// A store over the folder, as another process would have it.
        func store(_ log: RecordedLog = RecordedLog()) -> ResponseDatabase {
            ResponseDatabase(folder: url, log: log.log)
        }

        func key(_ index: Int) -> CacheKey { CacheKey(method: "GET", text: "http://h.example/path/\(index)") }

        func entry(_ text: String, variant: String? = nil, date: Date = Date()) -> CacheEntry {
            entry(Data(text.utf8), variant: variant, date: date)
        }

        func entry(size: Int) -> CacheEntry { entry(Data(repeating: 7, count: size), variant: nil, date: Date()) }

        private func entry(_ data: Data, variant: String?, date: Date) -> CacheEntry {
            let metadata = variant.map {
                CacheMetadata(
                    requestTime: date, responseTime: date, varyKey: [.init(name: "a", value: $0)])
            }
            let response = URLResponse(
                url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: data.count, textEncodingName: nil)
            return CacheEntry(
                response: CachedURLResponse(
                    response: response, data: data, userInfo: nil, storagePolicy: .allowed, metadata: metadata),
                date: date)
        }

        func contents(_ store: ResponseDatabase, _ index: Int) -> [String] {
            store.entries(for: key(index)).map { String(decoding: $0.response.data, as: UTF8.self) }
        }

        func flush(_ store: ResponseDatabase) async {
            await withCheckedContinuation { done in store.flush { done.resume() } }
        }

        /// Returns when no store is over the folder any more: the thread that has written may hold one for a moment longer.
        func isLeft() async throws {
            try await waitUntil { try FolderLock(url.appendingPathComponent("Lock")).isAlone }
        }

        var databaseFile: URL { url.appendingPathComponent("Responses.sqlite") }

        /// The database without a store: what another program may do with it.
        func database() throws -> SQLiteDatabase { try SQLiteDatabase(path: databaseFile.path, busyTimeout: 5000) }

        var bodies: URL { url.appendingPathComponent("Contents") }

        func bodyCount() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: bodies.path).count }
    }
#endif
