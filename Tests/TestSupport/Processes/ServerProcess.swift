import Dispatch
import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives

/// A real server, run as a process on free loopback ports, with its files in a private folder. It ends, and the folder
/// goes, with `stop()`, with the last reference to it, or with this process however that dies.
package final class ServerProcess: Sendable {
    /// The values for a server's configuration.
    package struct Setup: Sendable {
        package var folder: TemporaryFolder
        /// On 127.0.0.1, and free.
        package var ports: [UInt16]
    }

    /// The message of a server when another program took its port meanwhile; or squid, when another one was making the
    /// shared memory that all of them name alike.
    private static let taken = ["in use", "EADDRINUSE", "shm_open"]
    private static let attempts = 5

    package let setup: Setup
    /// The ports' namesakes, so that nobody else is met by the name `localhost`.
    private let reserved: [ReservedPort]
    private let process: ChildProcess
    private let watchdog: Watchdog

    package var ports: [UInt16] { setup.ports }

    /// Its standard output and error up to now.
    package var output: String { Self.output(in: setup.folder) }

    /// Starts a server in the foreground, and returns when it accepts connections on all of its ports.
    ///
    /// - Parameters:
    ///   - program: a path, or a name to search in `PATH` and the folders for administrators' programs.
    ///   - aptPackage: named in the error where the program is missing.
    ///   - portCount: the number of ports that it needs.
    ///   - environment: variables besides, or instead of, this process's.
    ///   - configure: writes its files, and returns its arguments.
    /// - Throws: `MissingProgram`; `ServerProcessError` with the server's output when it ends early.
    package static func start(
        _ program: String, aptPackage: String, portCount: Int, environment: (Setup) -> [String: String] = { _ in [:] },
        configure: (Setup) throws -> [String]
    ) throws -> ServerProcess {
        guard let executable = find(program) else { throw MissingProgram(program: program, aptPackage: aptPackage) }
        for _ in 1..<attempts {
            do {
                return try ServerProcess(executable, portCount, environment, configure)
            } catch let error as ServerProcessError where taken.contains(where: error.output.contains) {
                continue
            }
        }
        return try ServerProcess(executable, portCount, environment, configure)
    }

    private init(
        _ executable: String, _ portCount: Int, _ environment: (Setup) -> [String: String],
        _ configure: (Setup) throws -> [String]
    ) throws {
        let (ports, reserved) = try Self.freePorts(portCount, executable)
        let setup = Setup(folder: try TemporaryFolder(), ports: ports)
        let arguments = try configure(setup)
        self.setup = setup
        self.reserved = reserved
        try setup.folder.write("", to: Self.outputName)
        let output = try FileHandle(forWritingTo: setup.folder.file(Self.outputName))
        let streams = ChildProcess.Streams(output: output.fileDescriptor, errors: output.fileDescriptor)
        process = try ChildProcess(executable, arguments, environment: environment(setup), streams: streams)
        try output.close()
        watchdog = try Watchdog(over: process, folder: setup.folder.path)
        for port in setup.ports { try waitUntilAccepting(port, executable) }
    }

    deinit { stop() }

    /// Ends it, and removes its folder. Does not wait for that: some servers take a second, and the threads of Swift's pool
    /// are two.
    package func stop() {
        DispatchQueue.global().async { [process, watchdog, setup] in
            Self.stop(process, watchdog, setup.folder)
        }
    }

    /// Ends it, waits until it has ended, and removes its folder.
    package func stopAndWait() { Self.stop(process, watchdog, setup.folder) }

    private static func stop(_ process: ChildProcess, _ watchdog: Watchdog, _ folder: TemporaryFolder) {
        process.stop(after: 5)
        watchdog.dismiss()
        folder.remove()
    }

    /// Does what happens when this process dies without stopping the server, and returns when it has happened.
    package func abandon() {
        watchdog.bark()
        process.waitForExit()
    }

    // MARK: Starting

    private static let outputName = "output.txt"

    private static func output(in folder: TemporaryFolder) -> String {
        (try? String(contentsOf: folder.file(outputName), encoding: .utf8)) ?? ""
    }

    package static func find(_ program: String) -> String? {
        if program.hasPrefix("/") { return FileManager.default.isExecutableFile(atPath: program) ? program : nil }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin", "/sbin"]
        return folders.map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// The distribution's Python, which has its packages, whatever else the path has.
    ///
    /// - Parameter modules: as they are imported.
    /// - Throws: `MissingProgram` where one of the modules is not installed.
    package static func python(with modules: [String], aptPackage: String) throws -> String {
        let folder = "/usr/lib/python3/dist-packages"
        for module in modules where ["", ".py"].allSatisfy({ access("\(folder)/\(module)\($0)", R_OK) != 0 }) {
            throw MissingProgram(program: "Python's \(module)", aptPackage: aptPackage)
        }
        return "/usr/bin/python3"
    }

    /// The next port to be tried. The system gives none of these to a socket or a connection that asks for any port
    /// (`net.ipv4.ip_local_port_range`), so that nobody else gets a port before its server listens.
    private static let nextPort = Guarded(UInt16.random(in: portsOfServers))
    private static let portsOfServers: ClosedRange<UInt16> = 10_000...32_000

    private static func freePorts(_ count: Int, _ program: String) throws -> ([UInt16], [ReservedPort]) {
        let found = try (0..<count).map { _ in try freePort(program) }
        return (found.map(\.0), found.map(\.1))
    }

    /// One that nothing is bound to, and that was not given before.
    private static func freePort(_ program: String) throws -> (UInt16, ReservedPort) {
        for _ in portsOfServers {
            let port = nextPort.withLock { next in
                next = next == portsOfServers.upperBound ? portsOfServers.lowerBound : next + 1
                return next
            }
            if let free = try? (ListeningSocket(.ipv4(port: port)), ReservedPort(port)) { return (port, free.1) }
        }
        throw ServerProcessError(program: program, problem: "no port is free", output: "")
    }

    /// Nothing tells when another program has begun to listen: it is asked again and again, until it does or has ended.
    private func waitUntilAccepting(_ port: UInt16, _ executable: String) throws {
        while true {
            do {
                try StreamSocket(connectingTo: .ipv4(port: port)).close()
                return
            } catch  where error.code == ECONNREFUSED {
                guard !process.hasExited else {
                    let output = self.output
                    stop()
                    throw ServerProcessError(
                        program: executable, problem: "ended before it accepted connections", output: output)
                }
                poll(nil, 0, 5)
            }
        }
    }
}
