import Foundation
import TestSupport
import Testing

@testable import loadkit

/// The bytes of several loads on one descriptor.
@Suite struct OrderedOutputTests {
    @Test func staysInOrder() throws {
        let folder = try TemporaryFolder()
        let file = try FileHandle(forWritingTo: folder.write("", to: "output"))
        let output = OrderedOutput(file.fileDescriptor, [0, 2, 3, 5])
        var turns: [Int] = []
        func write(_ text: String, _ load: Int) throws -> Int { try output.write(Data(text.utf8), for: load) }
        for load in [2, 5] { output.whenTurnComes(for: load) { turns.append(load) } }
        #expect(try [write("c", 2), write("a", 0), write("d\n", 2), write("e", 3), write("b", 0)] == [1, 0, 3, 1, 0])
        #expect(!output.isAtLineStart)
        try output.finish(3)
        #expect(turns.isEmpty)
        try output.finish(0)
        #expect(turns == [2] && output.isAtLineStart)
        #expect(try write("f", 2) == 0)
        try output.finish(2)
        #expect(turns == [2, 5])
        #expect(try write("g", 5) == 0)
        try output.finish(5)
        #expect(try String(contentsOf: folder.file("output"), encoding: .utf8) == "abcd\nfeg")
    }

    /// The bytes of a load that has finished cannot be written: it is the turn of the load after it.
    @Test func goesOnWithoutAReader() throws {
        let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
        let output = OrderedOutput(full.fileDescriptor, [0, 1, 2, 3])
        func write(to load: Int) throws -> Int { try output.write(Data("x".utf8), for: load) }
        #expect(try write(to: 1) == 1 && write(to: 2) == 1)
        try output.finish(1)
        var turns: [Int] = []
        output.whenTurnComes(for: 2) { turns.append(2) }
        #expect(throws: ToolFailure.self) { try output.finish(0) }
        #expect(turns == [2])
        #expect(throws: ToolFailure.self) { try write(to: 2) }
        try output.finish(2)
        #expect(throws: ToolFailure.self) { try write(to: 3) }
    }

    @Test func keepsItsFailure() throws {
        let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
        let output = OrderedOutput(full.fileDescriptor, [0])
        let failures = (0..<2).map { _ in
            #expect(throws: ToolFailure.self) { try output.write(Data("x".utf8), for: 0) }
        }
        #expect(failures.allSatisfy { $0?.status == .writeError && $0?.reason?.contains("No space") == true })
    }
}
