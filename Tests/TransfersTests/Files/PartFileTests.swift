import CLoadingKitShims
import Foundation
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransfers

@Suite("PartFile")
struct PartFileTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("part").path }

    init() throws { folder = try TemporaryFolder() }

    private func record(_ file: PartFile, boot: String = "b") throws -> PartRecord {
        var record = PartRecord(resumeData: Data(), bootIdentifier: boot)
        (record.count, record.checksums) = try #require(try file.synchronize())
        return record
    }

    private func write(_ text: String, then more: String = "") throws -> PartRecord {
        let file = try PartFile(path, record: nil, bootIdentifier: "b")
        try file.write(Data(text.utf8), expecting: -1)
        let vouched = try record(file)
        try file.write(Data(more.utf8), expecting: 1 << 30)
        return vouched
    }

    @Test("CRC-32C, by the RFC's examples, however it is cut")
    func checksums() {
        // RFC 3720 §B.4
        let zeros = [UInt8](repeating: 0, count: 32), ones = [UInt8](repeating: 255, count: 32)
        #expect(lk_crc32c(0, zeros, 32) == 0x8A91_36AA && lk_crc32c(0, ones, 32) == 0x62A8_AB43)
        let rising = [UInt8](0..<32)
        for cut in 0...32 {
            let first = lk_crc32c(0, rising, cut)
            #expect(
                rising.withUnsafeBytes { lk_crc32c(first, $0.baseAddress?.advanced(by: cut), 32 - cut) } == 0x46DD_794E)
        }
        // Long runs of bytes are gone through in three blocks at once: a byte at a time they have the same checksum.
        let long = (0..<9_300).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        for count in [1_023, 3_071, 3_072, 3_073, 6_144, 6_151, 9_216, 9_300] {
            let single = long.prefix(count).reduce(UInt32(0)) { checksum, byte in lk_crc32c(checksum, [byte], 1) }
            #expect(lk_crc32c(0, long, count) == single)
        }
        var (whole, parts) = (PieceChecksums(), PieceChecksums())
        let bytes = [UInt8](repeating: 7, count: (16 << 20) + 5)
        bytes.withUnsafeBytes { bytes in
            whole.update(bytes)
            for start in stride(from: 0, to: bytes.count, by: 1_000_003) {
                parts.update(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 1_000_003, bytes.count)]))
            }
        }
        #expect(whole.data == parts.data && whole.data.count == 8)
    }

    @Test("within one start of the system all that was written is kept; after another one what was vouched for")
    func reopening() throws {
        let record = try write("hello ", then: "world")
        #expect(try PartFile(path, record: record, bootIdentifier: "b").count == 11)
        #expect(try PartFile(path, record: record, bootIdentifier: "c").count == 6)
        #expect(try Data(contentsOf: folder.file("part")) == Data("hello ".utf8))
        #expect(try PartFile(path, record: nil, bootIdentifier: "b").count == 0)
    }

    @Test("a file with other bytes, or fewer, begins anew", arguments: [0, 3, 5])
    func damage(at index: Int) throws {
        let record = try write("hello ", then: "world")
        var bytes = try Data(contentsOf: folder.file("part"))
        bytes[index] ^= 0x20
        try bytes.write(to: folder.file("part"))
        #expect(try PartFile(path, record: record, bootIdentifier: "b").count == 0)
        try Data("hell".utf8).write(to: folder.file("part"))
        #expect(try PartFile(path, record: record, bootIdentifier: "b").count == 0)
    }

    @Test("what was begun anew meanwhile is not vouched for")
    func startingOver() throws {
        let file = try PartFile(path, record: nil, bootIdentifier: "b")
        try file.write(Data("hello".utf8), expecting: -1)
        try file.startOver()
        try file.write(Data("bye".utf8), expecting: -1)
        #expect(try record(file).count == 3)
        #expect(try PartFile(path, record: record(file), bootIdentifier: "c").count == 3)
        #expect(try Data(contentsOf: folder.file("part")) == Data("bye".utf8))
    }

    @Test("a closed file is not written")
    func closing() throws {
        let file = try PartFile(path, record: nil, bootIdentifier: "b")
        try file.write(Data("hello".utf8), expecting: -1)
        file.close()
        try file.write(Data("more".utf8), expecting: -1)
        try file.startOver()
        #expect(file.count == 5)
        let record = PartRecord(resumeData: Data(), bootIdentifier: "b")
        #expect(try PartFile(path, record: record, bootIdentifier: "b", position: file.position).count == 5)
    }

    @Test("an attempt that was stopped while it opened the file does not change what the next one writes")
    func stopping() throws {
        let permission = PartFile.Permission()
        let next = try PartFile(path, record: nil, bootIdentifier: "b")
        try next.write(Data("hello".utf8), expecting: -1)
        permission.revoke()
        #expect(throws: LoadFailure.self) {
            try PartFile(path, record: nil, bootIdentifier: "b", permission: permission)
        }
        try next.write(Data(" world".utf8), expecting: -1)
        #expect(try Data(contentsOf: folder.file("part")) == Data("hello world".utf8))
    }

    @Test("each system call that fails is an error, and a full disk is told apart")
    func failures() throws {
        for (name, code) in [
            (SystemCalls.Name.open, EACCES), (.fstat, EIO), (.ftruncate, EIO), (.pwrite, ENOSPC), (.fsync, EIO),
        ] {
            let error = #expect(throws: PartFailure.self) {
                try FaultPlan(name, .nth(1), .fail(code)).run {
                    let file = try PartFile(path, record: nil, bootIdentifier: "b")
                    try file.write(Data("hello".utf8), expecting: -1)
                    _ = try file.synchronize()
                }
            }
            #expect(error?.isLackOfRoom == (code == ENOSPC))
        }
        try FaultPlan(.pwrite, .from(1), .short(1)).run {
            let file = try PartFile(path, record: nil, bootIdentifier: "b")
            try file.write(Data("hello".utf8), expecting: -1)
        }
        #expect(try Data(contentsOf: folder.file("part")) == Data("hello".utf8))
    }

    @Test("a symbolic link in its place is not followed")
    func links() throws {
        let other = try folder.write("other", to: "other")
        try FileManager.default.createSymbolicLink(at: folder.file("part"), withDestinationURL: other)
        #expect(throws: PartFailure.self) { try PartFile(path, record: nil, bootIdentifier: "b") }
        #expect(try Data(contentsOf: other) == Data("other".utf8))
    }

    @Test("in a folder that the program has chosen, services have names of their own for their files")
    func namesOfServices() throws {
        let folder = try TemporaryFolder()
        let folders = try ["one", "other"].map {
            try PartFolder(for: WireSamples.session, chosen: folder.path, in: folder.file($0).path)
        }
        try folders[0].make()
        try Data().write(to: URL(fileURLWithPath: folders[0].path(of: 1)))
        #expect(folders.map { $0.leftIdentifiers() } == [[1], []])
        folders[1].remove(1)
        #expect(folders[0].leftIdentifiers() == [1])
    }

    @Test("a part that could not be handed over is removed after a day")
    func keptParts() throws {
        let parts = try PartFolder(for: WireSamples.session, chosen: nil, in: folder.file("parts").path)
        try parts.make()
        let kept = "\(parts.path)/\(DownloadFolder.newName())"
        try Data("part".utf8).write(to: URL(fileURLWithPath: kept))
        // Its bytes are old, and it got its name now.
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: kept)
        PartFolder.removeOldKept(below: folder.file("parts").path)
        #expect(FileManager.default.fileExists(atPath: kept) && parts.leftIdentifiers().isEmpty)
        PartFolder.removeOldKept(in: parts.path, Date(timeIntervalSinceNow: 25 * 3600))
        #expect(!FileManager.default.fileExists(atPath: kept))
    }

    @Test("the private folder is made, and nothing in its place is accepted")
    func folders() throws {
        let path = folder.file("a/b").path
        try PrivateFolder.make(path)
        try PrivateFolder.make(path)
        var status = stat()
        #expect(SystemCalls.lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        chmod(path, 0o755)
        #expect(throws: LoadFailure.self) { try PrivateFolder.make(path) }
        try FileManager.default.createSymbolicLink(at: folder.file("link"), withDestinationURL: folder.url)
        #expect(throws: LoadFailure.self) { try PrivateFolder.make(folder.file("link").path) }
        try folder.write("x", to: "file")
        #expect(throws: LoadFailure.self) { try PrivateFolder.make(folder.file("file").path) }
    }
}
