import Foundation
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransfers

/// One process at a time has the journal of background sessions.
@Suite("The lock of the journal's folder")
struct ProcessLockTests {
    @Test("one has it at a time, until it lets go")
    func oneAtATime() throws {
        let folder = try TemporaryFolder()
        var first: ProcessLock? = try ProcessLock.take(folder: folder.path, patience: 0)
        #expect(first != nil)
        let error = #expect(throws: LoadFailure.self) { try ProcessLock.take(folder: folder.path, patience: 0) }
        #expect(error?.code == .backgroundSessionInUseByAnotherProcess)
        #expect(error?.description.contains(folder.path) == true)
        first = nil
        #expect(throws: Never.self) { try ProcessLock.take(folder: folder.path, patience: 0) }
    }

    @Test("is free when it is released, also while a process that is being started has a copy of its descriptor")
    func copiedDescriptors() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("lock").path
        var first = try ProcessLock.take(path)
        #expect(first != nil)
        let copies = try InheritedDescriptors(of: path)
        #expect(copies.count == 1)
        first = nil
        #expect(try ProcessLock.take(path) != nil)
        withExtendedLifetime(copies) {}
    }

    #if Persistence
        @Test("a second process of a program whose transfers run in it is refused, until the first has ended")
        func programs() async throws {
            try await withTimeout {
                try await onThread {
                    let programs = try ChaosPrograms(runsInProcess: true)
                    let first = try programs.start()
                    #expect(Self.words("tasks", of: first) == ["tasks", ""])
                    let second = try programs.start()
                    let code = URLError.backgroundSessionInUseByAnotherProcess.rawValue
                    #expect(Self.words("invalid", of: second) == ["invalid", "\(code)"])
                    first.kill()
                    first.waitForExit()
                    let third = try programs.start()
                    third.send("finish")
                    #expect(Self.words("invalid", of: third) == ["invalid", "0"])
                }
            }
        }

        /// The next line with that first word.
        private static func words(_ first: String, of program: ChaosProgram) -> [String]? {
            while let words = program.next() { if words.first == first { return words } }
            return nil
        }
    #endif
}
