import Foundation
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransfers

@Suite("Files that downloads are decoded to")
struct DecodedFileTests {
    private let folder: TemporaryFolder
    private let plain = [UInt8](repeating: 7, count: 3_000_000)
    private let part: String
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        guard case .bytes(let coded) = try ServerResponse.gzip(plain).body else { throw POSIXError(.EINVAL) }
        part = try folder.write(Data(coded), to: "part").path
        path = folder.file("decoded").path
    }

    private func make(_ coding: String = "gzip", ratio: Int = 200) throws -> Bool {
        try NewFile.decode(part, to: path, coding, ratio: ratio)
    }

    private var isThere: Bool { FileManager.default.fileExists(atPath: path) }

    @Test("the part stays until the file takes its place, and is read by its owner alone")
    func replaces() throws {
        let coded = try Data(contentsOf: URL(fileURLWithPath: part))
        // One that a process left which was killed.
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try make())
        #expect(try Data(contentsOf: URL(fileURLWithPath: part)) == coded)
        try NewFile.move(path, to: part)
        let isSame = try Data(contentsOf: URL(fileURLWithPath: part)) == Data(plain)
        #expect(isSame && !isThere)
        var status = stat()
        #expect(SystemCalls.lstat(part, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("a coding that is not built in leaves the part alone")
    func unknownCoding() throws {
        #expect(try !make("aes128gcm"))
        #expect(!isThere)
    }

    @Test("content that is not of its coding is an error, and leaves no file")
    func corrupt() throws {
        try Data("no gzip".utf8).write(to: URL(fileURLWithPath: part))
        let error = #expect(throws: LoadFailure.self) { try make() }
        #expect(error?.code == .cannotDecodeRawData && !isThere)
    }

    @Test("each system call that fails is an error that leaves no file, and a full disk is told apart")
    func failures() throws {
        let faults: [(SystemCalls.Name, nth: Int, Int32, URLError.Code)] = [
            // The first file that is opened is the one to write, the second is the part.
            (.open, 1, EACCES, .cannotCreateFile), (.open, 2, EMFILE, .cannotOpenFile),
            (.read, 1, EIO, .cannotOpenFile), (.pwrite, 1, ENOSPC, .cannotWriteToFile),
            (.fsync, 1, EIO, .cannotWriteToFile),
        ]
        for (name, number, fault, code) in faults {
            let error = #expect(throws: PartFailure.self) {
                try FaultPlan(name, .nth(number), .fail(fault)).run { _ = try make() }
            }
            #expect(error?.isLackOfRoom == (fault == ENOSPC || fault == EMFILE) && !isThere, "\(name) \(number)")
            #expect(error?.failure.code == code, "\(name) \(number)")
        }
    }

    @Test("a part that is gone is an error of the file, and leaves none")
    func missingPart() throws {
        try FileManager.default.removeItem(atPath: part)
        let error = #expect(throws: PartFailure.self) { try make() }
        #expect(error?.failure.code == .cannotOpenFile && error?.isLackOfRoom == false && !isThere)
    }
}
