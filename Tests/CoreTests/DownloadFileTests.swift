import Foundation
import Glibc
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

@Suite("A download's file")
struct DownloadFileTests {
    private static let megabyte = 1 << 20

    private func status(_ file: DownloadFile) throws -> stat {
        var status = stat()
        #expect(SystemCalls.stat(try #require(file.path), &status) == 0)
        return status
    }

    /// Bytes that the file takes of the disk.
    private func room(_ file: DownloadFile) throws -> Int { Int(try status(file).st_blocks) * 512 }

    private func size(_ file: DownloadFile) throws -> Int { Int(try status(file).st_size) }

    @Test(
        "has no more room set aside than a step, whatever is announced, and none when it is closed",
        arguments: [2 * Self.megabyte, 200 * Self.megabyte, Int.max])
    func room(announced: Int) throws {
        let file = DownloadFile()
        defer { file.remove() }
        let piece = SpoolOperation.write(Data(repeating: 7, count: Self.megabyte))
        #expect(try file.perform([piece], expecting: Int64(announced)) == Int64(Self.megabyte))
        #expect(try size(file) == Self.megabyte)
        // Of what a file system takes for itself.
        let slack = Self.megabyte
        #expect(try room(file) <= min(announced, 64 * Self.megabyte) + slack)
        try file.close()
        #expect(try room(file) <= Self.megabyte + slack && size(file) == Self.megabyte)
    }

    @Test("is written, and shortened, as if no room were set aside")
    func contents() throws {
        let file = DownloadFile()
        defer { file.remove() }
        let pieces = (1...3).map { SpoolOperation.write(Data(repeating: $0, count: Self.megabyte)) }
        #expect(try file.perform(pieces, expecting: Int64(9 * Self.megabyte)) == Int64(3 * Self.megabyte))
        let again = [.startOver] + pieces.suffix(1)
        #expect(try file.perform(again, expecting: Int64(9 * Self.megabyte)) == Int64(Self.megabyte))
        try file.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: try #require(file.path)))
        let isRight = bytes == Data(repeating: 3, count: Self.megabyte)
        #expect(isRight)
    }

    @Test("that is to be decoded and cannot be read is an error of the file")
    func unreadable() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let coded = try folder.write(Data("coded".utf8), to: "coded")
        for (name, fault) in [(SystemCalls.Name.open, EMFILE), (.read, EIO)] {
            let error = #expect(throws: LoadFailure.self) {
                try FaultPlan(name, .nth(1), .fail(fault)).run {
                    _ = try CodedDownload.decode(coded, "gzip", ratio: 200) { true }
                }
            }
            #expect(error?.code == .cannotOpenFile && error?.description.contains(coded.path) == true, "\(name)")
        }
        #expect(FileManager.default.fileExists(atPath: coded.path))
    }

    /// A task may be cancelled while its file is being closed. The file was closed by two threads then, and its descriptor was
    /// another file's by the second time.
    @Test("is used by one thread at a time, and closed once", arguments: [false, true])
    func order(keepsFile: Bool) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let downloads = DownloadFolder(folder.url.path + "/downloads", sweeps: false)
        let loop = EventLoop(name: "spool")
        defer { loop.stop() }
        let plan = FaultPlan([])
        loop.attach(plan)
        let events = try await withTimeout {
            await withCheckedContinuation { continuation in
                loop.execute {
                    let spool = DownloadSpool(loop, DownloadFile(in: downloads))
                    var events: [String] = []
                    spool.body.append(Data("content".utf8), of: -1)
                    spool.body.settle {
                        spool.finish { result in events.append((try? result.get()) == nil ? "failed" : "closed") }
                        spool.body.settle {
                            events.append("idle")
                            spool.end(keepsFile: keepsFile) { continuation.resume(returning: events + ["ended"]) }
                        }
                        events.append("finishing")
                    }
                }
            }
        }
        #expect(events == ["finishing", "closed", "idle", "ended"])
        #expect(plan.count(of: .close) == 1)
        let left = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).filter { $0.contains(".tmp") }
        #expect(left.count == (keepsFile ? 1 : 0))
        withExtendedLifetime(downloads) {}
    }
}
