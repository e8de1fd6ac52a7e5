import Foundation
import TestSupport

/// The public members that modules add to types of others, as the toolchain's own command lists them. Names that begin with
/// an underscore are not among them.
struct VisibleExtensions {
    private struct Graph: Decodable {
        struct Symbol: Decodable { let pathComponents: [String] }
        let symbols: [Symbol]
    }

    private struct Trace: Decodable {
        struct Module: Decodable {
            let name: String
            let path: String
        }
        let swiftmodulesDetailedInfo: [Module]
    }

    private struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// A folder for each module of C.
    static let systemLibraries = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources/LoadingKit/System")

    private let folder: TemporaryFolder
    /// Where what was built beside the tests is.
    private let products: URL
    private let modules: URL

    init() throws {
        folder = try TemporaryFolder()
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        products = URL(fileURLWithPath: tests).deletingLastPathComponent()
        modules = products.appendingPathComponent("Modules")
    }

    /// The modules that the compiler loads for `import LoadingKit`, but for the toolchain's. Blocks.
    func loadedModules() throws -> [String] {
        try folder.write("import LoadingKit\n", to: "program.swift")
        let trace = folder.file("trace.json")
        try run(
            ["swiftc", "-frontend", "-typecheck", folder.file("program.swift").path]
                + ["-emit-loaded-module-trace-path", trace.path])
        return try JSONDecoder().decode(Trace.self, from: Data(contentsOf: trace)).swiftmodulesDetailedInfo
            .filter { $0.path.hasPrefix(modules.path) }.map(\.name).sorted()
    }

    /// What a module adds to types that are not the library's: `Module: Type.member`. Blocks.
    func members(addedBy module: String) throws -> [String] {
        let output = folder.file(module)
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: false)
        // `.build/<target triple>/<configuration>`
        let target = products.deletingLastPathComponent().lastPathComponent
        try run(
            ["swift", "symbolgraph-extract", "-module-name", module, "-target", target]
                + ["-output-dir", output.path, "-minimum-access-level", "public"])
        return try FileManager.default.contentsOfDirectory(atPath: output.path).sorted().flatMap { name in
            let parts = name.split(separator: ".")[0].split(separator: "@")
            guard let extended = parts.dropFirst().first, !extended.hasPrefix("LoadingKit") else { return [String]() }
            let graph = try Data(contentsOf: output.appendingPathComponent(name))
            return try JSONDecoder().decode(Graph.self, from: graph).symbols.map { symbol in
                "\(module): \(symbol.pathComponents.joined(separator: "."))"
            }
        }
    }

    private func run(_ words: [String]) throws {
        try folder.write("", to: "log")
        let log = try FileHandle(forWritingTo: folder.file("log"))
        defer { try? log.close() }
        let process = try ChildProcess(
            "/usr/bin/env", words + (try searchPaths()),
            streams: .init(output: log.fileDescriptor, errors: log.fileDescriptor))
        guard process.waitForExit() == 0 else {
            throw Failed(description: try String(contentsOf: folder.file("log"), encoding: .utf8))
        }
    }

    private func searchPaths() throws -> [String] {
        let maps = try [Self.systemLibraries, products].flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: folder.path).map {
                folder.appendingPathComponent($0).appendingPathComponent("module.modulemap").path
            }
        }
        return ["-I", modules.path]
            + maps.filter(FileManager.default.fileExists).flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
    }
}
