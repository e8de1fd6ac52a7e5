import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import loadkit

/// Standard input as a body (`-T -`), and files without a size.
@Suite(.timeLimit(.minutes(5))) struct StandardInputTests {
    enum Kind: CaseIterable {
        case file, pipe, socket

        /// What gives `text`, and has had other bytes before it.
        func handle(_ text: String, _ folder: TemporaryFolder) throws -> FileHandle {
            let reader: FileHandle
            switch self {
            case .file: reader = try FileHandle(forReadingFrom: folder.write("before" + text, to: "input"))
            case .pipe:
                let pipe = Pipe()
                try Self.write(text, to: pipe.fileHandleForWriting)
                reader = pipe.fileHandleForReading
            case .socket:
                var ends: [Int32] = [-1, -1]
                try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
                try Self.write(text, to: FileHandle(fileDescriptor: ends[1], closeOnDealloc: true))
                reader = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
            }
            _ = try reader.read(upToCount: "before".utf8.count)
            return reader
        }

        private static func write(_ text: String, to handle: FileHandle) throws {
            try handle.write(contentsOf: Data("before\(text)".utf8))
            try handle.close()
        }
    }

    @Test(arguments: Kind.allCases) func isSent(_ kind: Kind) async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let input = try kind.handle("typed", folder)
        let run = try await ToolRun(["-T", "-", server.url("/echo")], folder: folder, standardInput: input)
        #expect(run.status == 0 && run.text.hasSuffix("\n\ntyped\n"), "\(run.text) \(run.errors)")
    }

    /// Loads that would share standard input are not begun.
    @Test(arguments: [
        ["-T", "-", "URL", "URL"], ["-T", ".", "URL", "--next", "-T", "-", "URL"],
        ["-T", "-", "URL", "--next", "ws://127.0.0.1:1/"],
    ])
    func isForOneLoad(_ arguments: [String]) async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let run = try await ToolRun(arguments.map { $0 == "URL" ? server.url("/echo") : $0 }, input: "typed")
        #expect(run.status == 2 && run.errors.contains("standard input is for one load"), "\(run.errors)")
        #expect(server.requests.snapshot.isEmpty)
    }

    /// What is in a pipe is for one load, and is not sent again. A device can be read again.
    @Test(
        arguments: [
            (["-T", "/dev/stdin", "/echo", "/echo"], 2, "-T /dev/stdin is a pipe"),
            (
                ["-T", "/dev/stdin", "--retry", "1", "--retry-all-errors", "--retry-delay", "0.01", "/busy"], 65,
                "503 Service Unavailable; /dev/stdin was already sent"
            ),
            (["-u", "a:b", "-T", "/dev/stdin", "/basic"], 65, "what -T reads was already sent"),
            (["-u", "a:b", "-T", "/dev/null", "/basic", "/digest"], 0, ""),
            (["-s", "-T", "/dev/null", "--retry", "1", "/flaky"], 0, ""),
        ] as [([String], Int32, String)])
    func pipesAndDevices(_ arguments: [String], _ status: Int32, _ errors: String) async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let arguments = arguments.map { $0.hasPrefix("/") && !$0.hasPrefix("/dev/") ? server.url($0) : $0 }
        let pipe = try Kind.pipe.handle("typed", TemporaryFolder())
        let run = try await ToolRun(arguments, standardInput: pipe)
        #expect(run.status == status, "\(run.errors)")
        #expect(errors.isEmpty ? run.errors.isEmpty : run.errors.contains(errors), "\(run.errors)")
    }

    private static func all(_ stream: InputStream) -> (text: String, status: Stream.Status) {
        stream.open()
        var (bytes, buffer): ([UInt8], [UInt8]) = ([], [0, 0, 0])
        while true {
            let count = stream.read(&buffer, maxLength: buffer.count)
            if count <= 0 { return (String(decoding: bytes, as: UTF8.self), stream.streamStatus) }
            bytes += buffer[..<count]
        }
    }

    /// Reads on a thread of its own, and writes each piece once that thread waits for bytes, or has ended.
    private static func reading<Result: Sendable>(
        _ pieces: [String], of pipe: Pipe, _ read: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let threads = Recorder<String>()
        async let result = onThread {
            threads.append(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self"))
            return try read()
        }
        // The thread reads until the end, also where the test has ended early.
        defer { try? pipe.fileHandleForWriting.close() }
        let thread = try #require(await threads.element(at: 0))
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        for piece in pieces {
            try await waitUntil { isWaiting(thread, for: descriptor) }
            try pipe.fileHandleForWriting.write(contentsOf: Data(piece.utf8))
        }
        try await waitUntil { isWaiting(thread, for: descriptor) }
        try pipe.fileHandleForWriting.close()
        return try await result
    }

    /// Whether a thread sleeps in a read of the descriptor, or in a poll of one descriptor, or has ended. While a thread
    /// sleeps, the system tells the number and the arguments of its call (proc(5)). A thread at a lock has others.
    private static func isWaiting(_ thread: String, for descriptor: Int32) -> Bool {
        guard FileManager.default.fileExists(atPath: "/proc/\(thread)") else { return true }
        guard let call = try? String(contentsOfFile: "/proc/\(thread)/syscall", encoding: .utf8) else { return false }
        let parts = call.split(separator: " ")
        return parts.count > 2 && (parts[1] == "0x\(String(descriptor, radix: 16))" || parts[2] == "0x1")
    }

    /// Bytes that come later are waited for, also where the descriptor does not block.
    @Test(arguments: [0, O_NONBLOCK]) func isAwaited(_ flags: Int32) async throws {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        try #require(fcntl(descriptor, F_SETFL, flags) == 0)
        let read = try await Self.reading(["typed"], of: pipe) { Self.all(StandardInput(descriptor).makeStream()) }
        #expect(read.text == "typed" && read.status == .atEnd)
        withExtendedLifetime(pipe) {}
    }

    /// Nor do the data of arguments and the lines of a conversation end before the writer does.
    @Test(arguments: [0, O_NONBLOCK]) func isAwaitedByOtherReaders(_ flags: Int32) async throws {
        let readers: [@Sendable (Int32) throws -> [String]] = [
            { [String(decoding: try StandardInput.readAll($0), as: UTF8.self)] }, { Array(InputLines($0)) },
        ]
        for (reader, expected) in zip(readers, [["a\r\n\nb\r"], ["a", "", "b\r"]]) {
            let pipe = Pipe()
            let descriptor = pipe.fileHandleForReading.fileDescriptor
            try #require(fcntl(descriptor, F_SETFL, flags) == 0)
            let read = try await Self.reading(["a\r", "\n\nb\r"], of: pipe) { try reader(descriptor) }
            #expect(read == expected)
            withExtendedLifetime(pipe) {}
        }
        // They are not open.
        #expect(throws: (any Error).self) { try StandardInput.readAll(-1) }
        #expect(Array(InputLines(-1)).isEmpty)
    }

    @Test func isReadOnce() throws {
        let folder = try TemporaryFolder()
        let file = try FileHandle(forReadingFrom: folder.write("typed", to: "input"))
        let unread = StandardInput(file.fileDescriptor)
        let stream = unread.makeStream()
        #expect(unread.withdraw() && unread.withdraw())
        #expect(Self.all(stream) == ("", .error))
        let input = StandardInput(file.fileDescriptor)
        #expect(Self.all(input.makeStream()) == ("typed", .atEnd) && !input.withdraw())
        // It is not open.
        #expect(Self.all(StandardInput(-1).makeStream()) == ("", .error))
        let named = StandardInput(path: folder.file("input").path)
        #expect(Self.all(named.makeStream()) == ("typed", .atEnd) && !named.withdraw())
        #expect(Self.all(StandardInput(path: folder.file("none").path).makeStream()) == ("", .error))
    }
}
