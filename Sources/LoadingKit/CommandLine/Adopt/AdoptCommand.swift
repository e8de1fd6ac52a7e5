#if CommandLineTool
    import ArgumentParser
    import Foundation

    /// `loadkit adopt`: changes a package from FoundationNetworking to LoadingKit.
    struct AdoptCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "adopt",
            abstract: "Changes a Swift package from FoundationNetworking to LoadingKit.",
            discussion: """
                Imports in the sources are changed; where a file compiles on other platforms, they keep theirs. A file \
                that uses URLSession and imports Foundation alone gets an import for Linux. The \
                manifest gets the dependency, and the product in the targets that import it. What was changed is \
                listed, and what needs a look. A second run changes nothing.

                Changes are undone with git, or outside a repository with the patch that is written. Files with \
                changes that are not committed are left alone without --force.
                """)

        @Argument(help: ArgumentHelp("The package. Default: the current folder.", valueName: "FOLDER"))
        var folder = "."

        @Flag(help: "Say what would be changed, and change nothing.")
        var dryRun = false

        @Flag(help: "Change files, too, whose changes are not committed.")
        var force = false

        @Option(help: ArgumentHelp("The folder or the repository of LoadingKit.", valueName: "PATH-OR-URL"))
        var loadingkit: String?

        @Option(
            help: ArgumentHelp(
                "With a repository: its oldest release that will do. Default: its branch main.", valueName: "VERSION"))
        var version: String?

        static let patchName = "loadkit-adopt.patch"

        func run() throws {
            let source = try LoadingKitSource(loadingkit, version: version, checkout: LoadingKitSource.ownCheckout())
            let path = URL(fileURLWithPath: folder, isDirectory: true).standardizedFileURL.path
            let adoption = try PackageAdoption(folder: path, source: source)
            let files = adoption.changes.map(\.path)
            var undo = ""
            if !dryRun, !files.isEmpty {
                undo = try prepareUndo(adoption, in: path)
                for change in adoption.changes { try write(change.after, to: "\(path)/\(change.path)") }
            }
            try report(adoption.changed, dryRun ? "Would be changed" : "Changed")
            try report(adoption.remarks, "To look at (Migrating.md has the reasons)")
            try StandardOutput.write(files.isEmpty ? "Nothing is left to change.\n" : undo)
        }

        /// Makes sure that the changes can be undone, and returns how.
        private func prepareUndo(_ adoption: PackageAdoption, in path: String) throws -> String {
            let files = adoption.changes.map(\.path)
            let status = Self.git(["-C", path, "status", "--porcelain", "--ignored", "--"] + files)
            if let status, !status.isEmpty, !force {
                throw ToolFailure(
                    .writeError,
                    "these files have changes that are not committed (--force changes them): "
                        + status.split(separator: "\n").map { $0.dropFirst(3) }.joined(separator: ", "))
            }
            if status == "" {
                let words = files.map { ShellWord($0).text }.joined(separator: " ")
                return "Undo with: git -C \(ShellWord(path).text) checkout -- \(words)\n"
            }
            try write(adoption.patch, to: "\(path)/\(Self.patchName)")
            return
                "Undo with: patch -R -p1 -d \(ShellWord(path).text) <\(ShellWord("\(path)/\(Self.patchName)").text)\n"
        }

        private func report(_ lines: [String], _ title: String) throws {
            guard !lines.isEmpty else { return }
            try StandardOutput.write("\(title):\n" + lines.map { "  \(PlainText.line($0))\n" }.joined())
        }

        private func write(_ text: String, to path: String) throws {
            do {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            } catch {
                throw ToolFailure(.writeError, "\(path) cannot be written: \(error.localizedDescription)")
            }
        }

        /// git's output; nil outside a repository, or without git.
        private static func git(_ arguments: [String]) -> String? {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["git"] + arguments
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return nil }
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return process.terminationStatus == 0 ? text : nil
        }
    }
#endif
