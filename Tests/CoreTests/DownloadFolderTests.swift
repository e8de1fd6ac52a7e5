import Foundation
import Glibc
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

@Suite("The folder of downloads")
struct DownloadFolderTests {
    private let temporary: TemporaryFolder
    private var path: String { temporary.file("downloads").path }

    init() throws { temporary = try TemporaryFolder() }

    /// What a process would have.
    private func folder(_ limits: DownloadFolder.Limits = .init()) -> DownloadFolder {
        DownloadFolder(path, limits, sweeps: false)
    }

    /// A download that broke, of which so many bytes are there.
    private func leave(_ count: Int, in folder: DownloadFolder, hoursAgo: Double = 0) throws -> String {
        let file = DownloadFile(in: folder)
        _ = try file.perform([.write(Data(repeating: 1, count: count))], expecting: -1)
        file.leave()
        let changed = Date(timeIntervalSinceNow: -3600 * hoursAgo)
        try FileManager.default.setAttributes(
            [.modificationDate: changed], ofItemAtPath: try #require(file.path))
        return file.name
    }

    /// The sizes of what is there.
    private var sizes: [Int] {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.compactMap { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
            return attributes?[.size] as? Int
        }.sorted()
    }

    @Test("keeps what a process that is gone has left for a day, and what others use for ever")
    func age() throws {
        let alive = folder()
        _ = try leave(1, in: alive, hoursAgo: 100)
        do {
            let gone = folder()
            _ = try leave(2, in: gone, hoursAgo: 25)
            _ = try leave(3, in: gone, hoursAgo: 23)
        }
        folder().sweep()
        #expect(sizes == [1, 3])
        // The process's folder goes with the last of its files.
        folder().sweep(Date(timeIntervalSinceNow: 2 * 3600))
        #expect(sizes == [1])
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).count == 1)
    }

    @Test("counts the age of what was left before the clock was set from when it is set")
    func unsetClock() throws {
        do {
            let gone = folder()
            _ = try leave(1, in: gone, hoursAgo: Date().timeIntervalSince1970 / 3600 - 1)
        }
        folder().sweep()
        #expect(sizes == [1])
        folder().sweep(Date(timeIntervalSinceNow: 23 * 3600))
        #expect(sizes == [1])
        folder().sweep(Date(timeIntervalSinceNow: 25 * 3600))
        #expect(sizes.isEmpty)
    }

    @Test("holds a bounded number of bytes and files of processes that are gone, the newest")
    func bound() throws {
        for hours in 1...6 {
            let gone = folder()
            _ = try leave(hours * 100, in: gone, hoursAgo: Double(hours))
        }
        folder(.init(bytes: 1000)).sweep()
        #expect(sizes == [100, 200, 300, 400])
        folder(.init(files: 2)).sweep()
        #expect(sizes == [100, 200])
    }

    @Test("holds a bounded number of what this process has left, and always the last")
    func own() throws {
        let folder = folder(.init(bytes: 1000, files: 3))
        for count in [300, 400, 500] { _ = try leave(count, in: folder) }
        #expect(sizes == [400, 500])
        for count in [10, 20] { _ = try leave(count, in: folder) }
        #expect(sizes == [10, 20, 500])
        _ = try leave(5000, in: folder)
        #expect(sizes == [5000])
    }

    @Test("leaves no folder behind where the process has no descriptor for it")
    func withoutDescriptor() throws {
        let folder = folder()
        let isMade = FaultPlan(.open, .nth(1), .fail(EMFILE)).run { (try? folder.path(of: "a")) != nil }
        #expect(!isMade)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        _ = try folder.path(of: "a")
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).count == 1)
    }

    @Test("has what another process has left taken over", arguments: [false, true])
    func taking(isAlive: Bool) throws {
        var first: DownloadFolder? = folder()
        let name = try leave(100, in: try #require(first), hoursAgo: 30)
        if !isAlive { first = nil }
        let second = folder()
        let file = try DownloadFile(resuming: name, count: 60, in: second)
        #expect(file.count == 60)
        // It is in use.
        folder().sweep()
        #expect(sizes == [60])
        #expect(try DownloadFile(resuming: name, count: 60, in: folder()).count == 0)
        file.leave()
        #expect(try DownloadFile(resuming: name, count: 50, in: folder()).count == 50)
        withExtendedLifetime(first) {}
    }

    /// Where copies kept the lock, a download that was resumed at once began anew, as if another download had its file.
    @Test("has nothing locked that is closed, also while a process that is being started has copies of its descriptors")
    func copiedDescriptors() throws {
        let folder = folder()
        let file = DownloadFile(in: folder)
        _ = try file.perform([.write(Data(repeating: 1, count: 100))], expecting: -1)
        let copies = try InheritedDescriptors(of: try #require(file.path))
        #expect(copies.count == 1)
        file.leave()
        #expect(try DownloadFile(resuming: file.name, count: 100, in: folder).count == 100)
        withExtendedLifetime(copies) {}
    }

    @Test("is swept when its process has ended, also while a process that it has started has copies of its descriptors")
    func copiedDescriptorsOfFolder() throws {
        var gone: DownloadFolder? = folder()
        _ = try leave(1, in: try #require(gone), hoursAgo: 30)
        let own = try #require(try FileManager.default.contentsOfDirectory(atPath: path).first)
        let copies = try InheritedDescriptors(of: "\(path)/\(own)")
        #expect(copies.count == 1)
        gone = nil
        folder().sweep()
        #expect(sizes == [])
        withExtendedLifetime(copies) {}
    }

    @Test("has files that an older version has left in it")
    func older() throws {
        let folder = folder()
        let name = try leave(100, in: folder)
        let old = try #require(FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String }.max())
        try FileManager.default.moveItem(atPath: "\(path)/\(old)", toPath: "\(path)/\(name)")
        #expect(try DownloadFile(resuming: name, count: 100, in: folder).count == 100)
    }

    @Test("touches nothing that is not its own")
    func others() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        chmod(path, 0o700)
        let other = "\(path)/\(UUID().uuidString)/notes.txt"
        try temporary.write("kept", to: String(other.dropFirst(temporary.path.count + 1)))
        folder(.init(age: 0, bytes: 0, files: 0)).sweep(Date(timeIntervalSinceNow: 3600))
        #expect(FileManager.default.fileExists(atPath: other))
    }

    @Test("is another one when the process has become another user, and the first one when it is the first user again")
    func anotherUser() throws {
        let (base, user) = (path, Box<UInt32>(1))
        let folder = DownloadFolder({ "\(base)-\($0)" }, sweeps: false, effectiveUser: { user.value })
        let first = try folder.path(of: "a")
        user.value = 2
        let second = try folder.path(of: "a")
        #expect(first.hasPrefix("\(base)-1/") && second.hasPrefix("\(base)-2/"))
        let name = try leave(3, in: folder)
        #expect(try DownloadFile(resuming: name, count: 3, in: folder).count == 3)
        user.value = 1
        #expect(try folder.path(of: "a") == first)
    }

    @Test("is made again where somebody has removed it")
    func removed() throws {
        let folder = folder()
        _ = try leave(1, in: folder)
        try FileManager.default.removeItem(atPath: path)
        _ = try leave(2, in: folder)
        #expect(sizes == [2])
    }

    @Test("is swept by several at a time")
    func several() async throws {
        for count in 1...20 {
            let gone = folder()
            _ = try leave(count, in: gone, hoursAgo: count % 2 == 0 ? 30 : 1)
        }
        let path = path
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let folder = DownloadFolder(path)
                    folder.sweep()
                    _ = try? folder.path(of: DownloadFolder.newName())
                    folder.sweep()
                }
            }
        }
        #expect(sizes == (1...20).filter { $0 % 2 == 1 })
    }
}
