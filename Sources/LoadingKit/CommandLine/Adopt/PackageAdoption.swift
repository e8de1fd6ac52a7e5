import Foundation

/// The changes with which a package uses LoadingKit instead of FoundationNetworking.
struct PackageAdoption {
    struct Change: Hashable {
        /// The path in the package's folder.
        let path: String
        let before: String
        let after: String
    }

    private(set) var changes: [Change] = []
    /// Lines of the report.
    private(set) var changed: [String] = []
    private(set) var remarks: [String] = []

    init(folder: String, source: LoadingKitSource) throws(ToolFailure) {
        guard let manifest = Self.text("Package.swift", in: folder) else {
            throw ToolFailure(.couldNotReadFile, "there is no Package.swift in \(folder)")
        }
        let known = AdoptedManifest(manifest).targets
        var targets: [String: Bool] = [:]
        for (path, before, result) in adoptedSources(in: folder) {
            changed += result.changes.map { "\(path):\($0.line): \($0.text)" }
            if result.text != before { changes.append(Change(path: path, before: before, after: result.text)) }
            remarks += result.questions.map { "\(path):\($0.line): \($0.text)" }
            guard result.importsAlways || result.importsOnCondition else { continue }
            remarks += result.remarks.map { "\(path):\($0.line): \($0.text)" }
            let candidates = known.flatMap { target in target.folders.map { (target.name, $0) } }
                .filter { path.hasPrefix($0.1 + "/") || $0.1.isEmpty }
            guard let target = candidates.max(by: { $0.1.count < $1.1.count })?.0 else {
                remarks.append("\(path): its target is not found: add the product LoadingKit to it by hand")
                continue
            }
            targets[target] = targets[target, default: true] && !result.importsAlways
        }
        guard !targets.isEmpty || !changes.isEmpty else { return }
        for name in manifests(in: folder) { adoptManifest(name, in: folder, targets, source) }
    }

    private static func text(_ path: String, in folder: String) -> String? {
        try? String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
    }

    /// The sources that may need a change. Where no file exports its import to the others, those that import Foundation alone get one.
    private mutating func adoptedSources(in folder: String) -> [(path: String, before: String, result: AdoptedSource)] {
        var found: [(path: String, before: String, result: AdoptedSource)] = []
        for path in sources(in: folder) {
            guard let text = Self.text(path, in: folder) else {
                remarks.append("\(path): is not UTF-8")
                continue
            }
            guard LoadingNames.words.contains(where: text.contains) else { continue }
            found.append((path, text, AdoptedSource(text)))
        }
        guard !found.contains(where: \.result.exportsImport) else { return found }
        let declared = found.reduce(into: Set<String>()) { $0.formUnion($1.result.declared) }
        for index in found.indices where found[index].result.needsImport(declaredElsewhere: declared) {
            found[index].result.addImport()
        }
        return found
    }

    /// The version of Swift that LoadingKit needs.
    private static let swift = ToolsVersion(major: 6, minor: 1)

    /// The package's manifest, and those for versions of Swift that can build LoadingKit.
    private func manifests(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let all = ["Package.swift"] + names.filter { $0.hasPrefix("Package@") && $0.hasSuffix(".swift") }.sorted()
        let versions = all.map { ToolsVersion(manifest: Self.text($0, in: folder) ?? "") }
        // SwiftPM uses the newest manifest that is not newer than itself.
        let oldest = versions.filter { $0 <= Self.swift }.max() ?? Self.swift
        return zip(all, versions).filter { $0.1 >= oldest }.map(\.0)
    }

    /// - Parameter targets: by their names, whether they import LoadingKit on Linux alone.
    private mutating func adoptManifest(
        _ name: String, in folder: String, _ targets: [String: Bool], _ source: LoadingKitSource
    ) {
        guard let before = Self.text(name, in: folder) else {
            remarks.append("\(name): is not UTF-8")
            return
        }
        var adopted = AdoptedManifest(before)
        adopted.add(source, to: targets.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        changed += adopted.changes.map { "\(name): \($0)" }
        remarks += adopted.remarks.map { "\(name): \($0)" }
        if adopted.text != before { changes.append(Change(path: name, before: before, after: adopted.text)) }
    }

    /// The Swift sources, without hidden folders, links, and packages within the package.
    private mutating func sources(in folder: String) -> [String] {
        var open = [""]
        var found: [String] = []
        while let place = open.popLast() {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(place)")) ?? []
            if !place.isEmpty, names.contains("Package.swift") {
                remarks.append("\(place)is a package of its own, and is not changed")
                continue
            }
            for name in names.sorted() where !name.hasPrefix(".") {
                let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(place)\(name)")
                switch attributes?[.type] as? FileAttributeType {
                case .typeDirectory?: open.append("\(place)\(name)/")
                case .typeRegular? where place.isEmpty && (name == "Package.swift" || name.hasPrefix("Package@")):
                    break
                case .typeRegular? where name.hasSuffix(".swift"): found.append("\(place)\(name)")
                case _: break
                }
            }
        }
        return found.sorted()
    }

    /// The changes in the form of diff(1), each file as a whole.
    var patch: String {
        changes.map { change in
            let (before, after) = (Self.lines(change.before, "-"), Self.lines(change.after, "+"))
            return "--- a/\(change.path)\n+++ b/\(change.path)\n@@ -1,\(before.count) +1,\(after.count) @@\n"
                + (before + after).joined()
        }.joined()
    }

    private static func lines(_ text: String, _ sign: String) -> [String] {
        var lines = BlankedSource.lines(Array(text.utf8)).map { "\(sign)\($0)\n" }
        if text.utf8.last == UInt8(ascii: "\n") {
            lines.removeLast()
        } else {
            lines[lines.count - 1] += "\\ No newline at end of file\n"
        }
        return lines
    }
}
