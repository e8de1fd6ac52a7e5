import Foundation

/// `systemctl --user`, where it exists and has a running manager.
struct ServiceManager {
    /// Nil where `systemctl` does not exist.
    let path: String?

    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
        let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        path = folders.filter { $0.hasPrefix("/") }.map { $0 + "/systemctl" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs commands in sequence, up to the first that fails.
    ///
    /// - Returns: The remaining commands, for the user to run, as they are typed; empty where all succeeded.
    func run(_ commands: [[String]]) -> [String] {
        for (index, command) in commands.enumerated() where !hasSucceeded(command) {
            return commands[index...].map { "systemctl --user " + $0.joined(separator: " ") }
        }
        return []
    }

    private func hasSucceeded(_ arguments: [String]) -> Bool {
        guard let path else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["--user", "--quiet"] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
