import Foundation
import PackagePlugin

/// Makes code when the tests are built, by scripts: uses of each line of the table of Apple's interface, and functions of the
/// documentation's snippets.
@main struct GeneratedTests: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let scripts = context.package.directoryURL.appending(path: "Scripts")
        let output = context.pluginWorkDirectoryURL
        switch target.name {
        case "AppleInterfaceTests":
            let uses = output.appending(path: "AppleInterfaceUses.generated.swift")
            let table = target.directoryURL.appending(path: "AppleInterface.md")
            return [
                command(
                    "Making uses of Apple's interface", scripts, "apple-interface.py", ["--uses", uses.path], [table],
                    [uses])
            ]
        case "SnippetTests":
            let pages = pages(in: context.package.directoryURL)
            let files = pages.map { "\($0.deletingPathExtension().lastPathComponent)Snippets" } + ["Pages"]
            return [
                command(
                    "Making functions of the documentation's snippets", scripts, "snippets.py",
                    [output.path] + pages.map(\.path), pages, files.map { output.appending(path: "\($0).swift") })
            ]
        default: return []
        }
    }

    private func command(
        _ name: String, _ scripts: URL, _ script: String, _ arguments: [String], _ inputs: [URL], _ outputs: [URL]
    ) -> Command {
        let script = scripts.appending(path: script)
        return .buildCommand(
            displayName: name, executable: URL(filePath: "/usr/bin/env"),
            arguments: ["python3", script.path] + arguments,
            inputFiles: [script] + inputs, outputFiles: outputs)
    }

    /// README and the catalogues' pages, without the tutorials, which are compared with packages that the tests build.
    private func pages(in package: URL) -> [URL] {
        let tutorials = ["WriteAScheme.md", "WriteAnInterceptor.md"]
        let sources = FileManager.default.enumerator(
            at: package.appending(path: "Sources"), includingPropertiesForKeys: nil)
        let found = (sources?.compactMap { $0 as? URL } ?? []).filter {
            $0.pathExtension == "md" && !tutorials.contains($0.lastPathComponent)
        }
        return [package.appending(path: "README.md")] + found.sorted { $0.path < $1.path }
    }
}
