#if CommandLineTool
    import ArgumentParser
    import Foundation
    import LoadingKitTransfers

    /// `loadkit background install`.
    struct InstallDaemonCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install", abstract: "Has systemd start loadkitd for this user, also after a restart.")

        @Option(help: ArgumentHelp("The daemon's program. Default: the one that programs start.", valueName: "PATH"))
        var daemon: String?

        func run() async throws {
            let program = try await reportingDaemon {
                try DaemonProgram.find(
                    ProcessInfo.processInfo.environment.merging(daemon.map { ["LOADKITD": $0] } ?? [:]) { $1 })
            }
            let folder = UnitFolder()
            try folder.write(UnitFiles(daemon: program.path))
            // systemd's takes over what one does that a program has started.
            try await reportingDaemon { try await DaemonAccess().endDaemon() }
            let left = ServiceManager().run([
                ["daemon-reload"], ["enable", UnitFiles.serviceName, UnitFiles.socketName],
                ["restart", UnitFiles.socketName, UnitFiles.serviceName],
            ])
            // Only now: the daemon is installed also where the output cannot be written.
            let path = PlainText.line(folder.path)
            try StandardOutput.write("\(path)/\(UnitFiles.serviceName)\n\(path)/\(UnitFiles.socketName)\n")
            if !left.isEmpty {
                Console.standardError.write(
                    "systemd's manager of this user cannot be reached. When it runs:\n"
                        + left.map { "  \($0)\n" }.joined())
            }
        }
    }

    /// `loadkit background uninstall`.
    struct UninstallDaemonCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "uninstall",
            abstract: "Takes back what install did. Transfers go on when a program uses background sessions.")

        func run() async throws {
            let folder = UnitFolder()
            let manager = ServiceManager()
            _ = manager.run([["disable", "--now", UnitFiles.socketName, UnitFiles.serviceName]])
            guard try folder.remove() else {
                throw ToolFailure(.couldNotReadFile, "it is not installed: there is no unit in \(folder.path)")
            }
            _ = manager.run([["daemon-reload"]])
        }
    }

    /// `loadkit background log`.
    struct DaemonLogCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log", abstract: "Shows what loadkitd has said of itself.")

        func run() throws {
            let path = DaemonLog.path()
            let text = [path + ".1", path].compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }.joined()
            guard !text.isEmpty else {
                throw ToolFailure(
                    .couldNotReadFile,
                    "there is no log at \(path); where systemd starts loadkitd: journalctl --user -u loadkitd")
            }
            try StandardOutput.write(text)
        }
    }
#endif
