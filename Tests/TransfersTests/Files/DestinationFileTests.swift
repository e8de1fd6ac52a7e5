import Foundation
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitTransfers

/// Where files have no second names, a file that came meanwhile is not replaced either.
@Suite struct DestinationFileTests {
    private let folder: TemporaryFolder
    private let part: URL
    private var destination: URL { folder.file("destination") }

    init() throws {
        folder = try TemporaryFolder()
        part = try folder.write("new", to: "1.part")
    }

    private func place(_ faults: [FaultPlan.Entry] = []) throws {
        let all = [FaultPlan.Entry(.link, .from(1), .fail(EPERM))] + faults
        let surplus = try FaultPlan(all).run { try DestinationFile.place(part.path, at: destination.path) }
        #expect(surplus == [part.path])
    }

    private var content: String? { try? String(contentsOf: destination, encoding: .utf8) }
    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    /// The file system may not know how to rename without replacing.
    @Test(arguments: [[], [FaultPlan.Entry(.rename, .nth(1), .fail(EINVAL))]] as [[FaultPlan.Entry]])
    func aFreePlaceIsTaken(_ faults: [FaultPlan.Entry]) throws {
        try place(faults)
        #expect(content == "new")
        #expect(try names == ["1.part", "destination"])
    }

    @Test(arguments: [[], [FaultPlan.Entry(.rename, .nth(1), .fail(EINVAL))]] as [[FaultPlan.Entry]])
    func whatIsThereIsNotReplaced(_ faults: [FaultPlan.Entry]) throws {
        _ = try folder.write("old", to: "destination")
        #expect(throws: (any Error).self) { try place(faults) }
        #expect(content == "old")
        #expect(try names == ["1.part", "destination"])
    }

    private func findPlaced() throws -> [String]? { try DestinationFile.findPlaced(part.path, at: destination.path) }

    /// As after the end of a process that has placed the file.
    @Test func aPlacedFileIsFound() throws {
        #expect(try findPlaced() == nil)
        #expect(try DestinationFile.place(part.path, at: destination.path) == [part.path])
        #expect(try findPlaced() == [part.path])
        #expect(content == "new")
    }

    /// The file has only the name of its copy there: the destination is on another file system. Its own name may be as long
    /// as the system allows.
    @Test(arguments: ["destination", String(repeating: "d", count: 255)]) func aPlacedCopyIsFound(name: String) throws {
        let destination = folder.file(name)
        let surplus = try FaultPlan(.link, .nth(1), .fail(EXDEV)).run {
            try DestinationFile.place(part.path, at: destination.path)
        }
        #expect(surplus.count == 2 && surplus.first == part.path)
        #expect(try DestinationFile.findPlaced(part.path, at: destination.path) == surplus)
        #expect(try String(contentsOf: destination, encoding: .utf8) == "new")
    }

    /// A rename leaves no sign that the file is the transfer's own.
    @Test func anUnknownFileIsAnError() throws {
        try place()
        #expect(throws: (any Error).self) { try findPlaced() }
        #expect(content == "new")
        #expect(try names == ["1.part", "destination"])
    }

    /// The next attempt must not write to the file that the user has moved.
    @Test func aPlacedFileThatWasMovedIsReleased() throws {
        _ = try DestinationFile.place(part.path, at: destination.path)
        let moved = folder.file("moved")
        try FileManager.default.moveItem(at: destination, to: moved)
        #expect(try findPlaced() == nil)
        #expect(try names == ["moved"])
        #expect(try String(contentsOf: moved, encoding: .utf8) == "new")
    }

    @Test func aPlaceThatWasHeldIsGivenBack() throws {
        let faults: [FaultPlan.Entry] = [.init(.rename, .nth(1), .fail(EINVAL)), .init(.rename, .nth(2), .fail(EIO))]
        #expect(throws: (any Error).self) { try place(faults) }
        #expect(try names == ["1.part"])
    }
}
