import Foundation
import Glibc
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A limit that is reached: what was possible goes on, the rest fails with a clear error, and afterwards all is as before.
@Suite struct ExhaustionTests {
    /// What the probe prints, a line each.
    ///
    /// - Parameter wrapper: the program that starts it, with its arguments.
    private static func probe(
        _ arguments: [String], in wrapper: [String] = [], environment: [String: String] = [:]
    ) async throws -> [String] {
        let probe = try ProgramRun.executable("ExhaustionProbe")
        return try await onThread {
            var pipes: [Int32] = [0, 0]
            guard pipe(&pipes) == 0 else { throw POSIXError(.EMFILE) }
            let reader = FileHandle(fileDescriptor: pipes[0], closeOnDealloc: true)
            let command = wrapper + [probe] + arguments
            let process = try ChildProcess(
                command[0], Array(command.dropFirst()), environment: environment,
                streams: .init(output: pipes[1], errors: pipes[1]))
            close(pipes[1])
            let text = String(decoding: try reader.readToEnd() ?? Data(), as: UTF8.self)
            let status = process.waitForExit()
            return text.split(separator: "\n").map(String.init) + (status == 0 ? [] : ["status \(status)"])
        }
    }

    /// Besides the threads that are there: none for a connection's loop, for what blocks, or for code of the program's.
    @Test func threads() async throws {
        let none = "the system has no thread for it (Resource temporarily unavailable)"
        let unavailable = "failed \(URLError.resourceUnavailable.rawValue)"
        let after = ["connection hello", "file file", "data data", "startLoading classic", "stream stream"]
        try await withTimeout {
            let lines = try await Self.probe(["threads"])
            let others = lines.filter { !$0.contains(" name ") }
            #expect(
                others == [
                    "before hello", "thread refused", "limited connection hello", "limited file file",
                    "limited data data",
                    "limited startLoading \(unavailable) startLoading() cannot be called: \(none)",
                    "limited stream \(unavailable) the request's body stream cannot be read: \(none)",
                ] + after.map { "after \($0)" })
            // A name that is nobody's: what its lookup fails with otherwise depends on this machine's network.
            let names = lines.filter { $0.contains(" name failed ") }
            let refused = names.map { $0.hasSuffix("(the lookup cannot begin: \(none))") }
            #expect(refused == [true, false])
        }
    }

    @Test func memory() async throws {
        try await withTimeout {
            let tooLarge =
                "failed \(NSURLErrorDataLengthExceedsMaximum) the body is larger than the memory there is"
            let lines = try await Self.probe(["memory"])
            #expect(
                lines == [
                    "before hello", "large \(tooLarge)", "large \(tooLarge)", "small hello",
                    "download 2097152 bytes", "after \(1 << 30) bytes",
                ])
        }
    }

    /// A thousand hosts in turn with 64 descriptors; others take all; then loads take all.
    @Test func descriptors() async throws {
        let (release, slowCount) = (Signal(), Box(0))
        let server = try LoopbackServer { request in
            switch request.path {
            case "/slow":
                if request.fields[.host]?.hasPrefix("slow.") == true { slowCount.update { $0 += 1 } }
                try request.exchange.wait(for: release)
                return .text("slow")
            case "/count": return .text("\(slowCount.value)")
            case "/release":
                release.fire()
                return .text("hello")
            case _: return .text("hello")
            }
        }
        defer { server.stop() }
        try await withTimeout {
            let lines = try await Self.probe(["descriptors", "\(server.address.port ?? 0)"])
            let failures = lines.filter { $0.hasPrefix("all in use ") }
            #expect(failures.count == 1)
            #expect(failures.first?.contains("RLIMIT_NOFILE") == true, "\(failures)")
            let others = lines.filter { !$0.hasPrefix("all in use ") }
            #expect(
                others == [
                    "in turn 1000 times hello", "beside files hello", "released hello", "slow 10 times slow",
                    "afterwards hello",
                ])
        }
    }

    /// Bound streams are read when they have something: no thread waits for them.
    @Test func boundStreams() async throws {
        try await withTimeout {
            let lines = try await Self.probe(["bound"])
            #expect(lines == ["elsewhere hello", "threads 0", "64 times body", "threads 0"])
        }
    }

    /// Where the system lets nobody make a namespace this fails, with what `unshare` says.
    @Test func disk() async throws {
        let folder = try TemporaryFolder()
        try await withTimeout {
            let mount = "mount -t tmpfs -o size=8m tmpfs \"$0\" && mkdir -m 700 \"$0/tmp\" && exec \"$@\""
            let lines = try await Self.probe(
                ["disk", folder.path],
                in: ["/usr/bin/unshare"] + Namespaces.ofMounts + ["/bin/sh", "-c", mount, folder.path],
                environment: [
                    "TMPDIR": folder.path + "/tmp/", "XDG_DATA_HOME": folder.path + "/data",
                    "XDG_CACHE_HOME": folder.path + "/cache",
                ])
            let failure = lines.first { $0.hasPrefix("full download failed \(URLError.cannotWriteToFile.rawValue) ") }
            #expect(failure?.hasSuffix("cannot be written: the disk is full (No space left on device)") == true)
            let others = lines.filter { !$0.contains("full download") && !$0.contains(" warning ") }
            #expect(
                others == [
                    "before download 2097152 bytes", "before cookies before=1", "before cached hello",
                    "before cached hello", "before asked 1", "before something is on disk",
                    "full cookies before=1; full=1", "full cached hello", "full cached hello", "full asked 1",
                    "full nothing is on disk", "after download 2097152 bytes",
                    "after cookies before=1; full=1; after=1", "after cached hello", "after cached hello",
                    "after asked 1", "after nothing is on disk", "partial files 0",
                ])
        }
    }
}
