#if CommandLineTool
    import Foundation
    import LoadingKitLoopbackServer
    import LoadingKitTransfers

    /// The demo's last step: a program starts a background download and is killed, the daemon continues, and the next
    /// run of the program receives the end. Both runs, and the daemon, are this program, as processes with private
    /// folders.
    struct BackgroundDemo {
        static let size = 2 << 20

        struct Outcome {
            /// The events, one on each line.
            var events: [String] = []
            /// Nil where every step succeeded.
            var problem: String?
        }

        private let folder: URL
        private let content = (0..<Self.size).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        /// Releases the second half of the file.
        private let release = Signal()
        private let allWasSent = Signal()

        /// - Parameter folder: A folder that does not exist yet. The path of a socket in it must not become too long.
        init(in folder: URL) { self.folder = folder }

        func run() async -> Outcome {
            var outcome = Outcome()
            do {
                try await run(&outcome)
            } catch {
                outcome.problem = (error as? DemoProblem)?.text ?? error.localizedDescription
            }
            await endDaemon()
            try? FileManager.default.removeItem(at: folder)
            return outcome
        }

        private func run(_ outcome: inout Outcome) async throws {
            for name in ["", "r", "got"] {
                try FileManager.default.createDirectory(
                    at: folder.appendingPathComponent(name), withIntermediateDirectories: false,
                    attributes: [.posixPermissions: 0o700])
            }
            let server = try LoopbackServer(route: answer)
            defer { server.stop() }
            let first = try start([server.url("/large")])
            let received = try await first.next("wrote")
            first.kill()
            outcome.events.append("a program begins it, and is killed when \(Self.amount(received)) are there")
            release.fire()
            await allWasSent.wait()
            outcome.events.append("nobody is there: the daemon loads the rest")
            let second = try start([])
            let found = try await second.next("found")
            outcome.events.append("the program runs again, and finds its task: \(found)")
            let path = try await second.next("done")
            second.waitForEnd()
            guard try Data(contentsOf: URL(fileURLWithPath: path)) == Data(content) else {
                throw DemoProblem("the file has other bytes than those that were sent")
            }
            let requests = server.requests.snapshot.count
            guard requests == 1 else { throw DemoProblem("\(requests) requests were needed") }
            outcome.events.append("its delegate gets the file: \(Amount.bytes(Int64(Self.size))), by one request")
        }

        /// Sends half of the file, and the rest after the release.
        private func answer(_ request: ServerRequest) -> ServerResponse {
            .stream(.length(UInt64(content.count))) { [content, release, allWasSent] body in
                defer { allWasSent.fire() }
                try body.write(Array(content[..<(content.count / 2)]))
                try body.wait(for: release)
                try body.write(Array(content[(content.count / 2)...]))
            }
        }

        private static func amount(_ text: String) -> String { Int64(text).map { Amount.bytes($0) } ?? text }

        private func start(_ arguments: [String]) throws -> DemoProcess {
            let got = folder.appendingPathComponent("got").path
            return try DemoProcess([BackgroundDemoCommand.name, got] + arguments, environment)
        }

        private var environment: [String: String] {
            var environment = ProcessInfo.processInfo.environment
            environment["LOADKITD"] = DemoProcess.program
            environment["XDG_RUNTIME_DIR"] = folder.appendingPathComponent("r").path
            for (name, part) in [("STATE_HOME", "state"), ("DATA_HOME", "data"), ("CACHE_HOME", "cache")] {
                environment["XDG_" + name] = folder.appendingPathComponent(part).path
            }
            return environment
        }

        /// Ends the daemon, and returns when it has ended.
        private func endDaemon() async {
            let place = DaemonPlace(folder: folder.appendingPathComponent("r/loadkit").path)
            // Without its folder there is no daemon.
            guard FileManager.default.fileExists(atPath: place.socket) else { return }
            var access = DaemonAccess()
            access.place = { place }
            try? await access.endDaemon()
            let lock = open(place.lock, O_RDWR | O_CLOEXEC)
            guard lock >= 0 else { return }
            flock(lock, LOCK_EX)
            close(lock)
        }
    }

    /// The reason why a step of the demo failed.
    struct DemoProblem: Error {
        let text: String

        init(_ text: String) { self.text = text }
    }
#endif
