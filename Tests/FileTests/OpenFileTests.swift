import Foundation
import LoadingKitCore
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitFile

/// Each of the system's calls fails, or is short, in turn.
@Suite struct OpenFileTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        let name: SystemCalls.Name
        let fault: FaultPlan.Fault
        /// Nil: it works all the same.
        let code: URLError.Code?
        let words: String
        var testDescription: String { "\(name) \(fault)" }

        init(_ name: SystemCalls.Name, _ fault: FaultPlan.Fault, _ code: URLError.Code? = nil, _ words: String = "") {
            (self.name, self.fault, self.code, self.words) = (name, fault, code, words)
        }
    }

    private static let cases = [
        Case(.stat, .fail(EACCES), .noPermissionsToReadFile, "may not be read: "),
        Case(.stat, .fail(ENOENT), .fileDoesNotExist, "does not exist: "),
        Case(.stat, .fail(EINTR)),
        // It was there a moment ago.
        Case(.open, .fail(ENOENT), .fileDoesNotExist, "does not exist: "),
        Case(.open, .fail(EACCES), .noPermissionsToReadFile, "may not be read: "),
        Case(.open, .fail(EPERM), .noPermissionsToReadFile, "may not be read: "),
        Case(.open, .fail(EISDIR), .fileIsDirectory, "is a directory"),
        Case(.open, .fail(EMFILE), .cannotOpenFile, "cannot be opened: "),
        Case(.open, .fail(EINTR)),
        Case(.fstat, .fail(EIO), .cannotOpenFile, "cannot be opened: "),
        Case(.pread, .fail(EIO), .cannotOpenFile, "cannot be read: "),
        Case(.pread, .fail(EINTR)),
        Case(.pread, .short(1)),
    ]

    @Test(arguments: cases) private func table(_ test: Case) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = try folder.write("hello", to: "file")
        let plan = FaultPlan(test.name, .nth(1), test.fault)
        let loop = EventLoop(name: "test")
        defer { loop.stop() }
        let result = try await withTimeout {
            loop.attach(plan)
            return await Task(executorPreference: loop.executor) { try await Self.read(file) }.result
        }
        #expect(plan.injectedCount == 1)
        switch result {
        case .success(let text): #expect(text == "hello" && test.code == nil)
        case .failure(let error):
            let failure = error as? LoadFailure
            #expect(failure?.code == test.code && failure?.description.contains(test.words) == true, "\(error)")
        }
        try await Loading.waitUntilClosed(file)
    }

    private static func read(_ url: URL) async throws -> String {
        var reader = try FileReader(try await OpenFile.open(FilePath(url)), rangeField: nil)
        var bytes = Data()
        while let piece = try await reader.next() { bytes += piece }
        return String(decoding: bytes, as: UTF8.self)
    }
}
