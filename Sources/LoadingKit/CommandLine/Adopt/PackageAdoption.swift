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
        let manifestPath = folder + "/Package.swift"
        guard let manifest = try? String(contentsOfFile: manifestPath, encoding: .utf8) else {
            throw ToolFailure(.couldNotReadFile, "there is no Package.swift in \(folder)")
        }
        var adopted = AdoptedManifest(manifest)
        var targets: [String: Bool] = [:]
        for path in sources(in: folder) {
            guard let text = try? String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8) else {
                remarks.append("\(path): is not UTF-8")
                continue
            }
            let result = AdoptedSource(text)
            changed += result.changes.map { "\(path):\($0.line): \($0.text)" }
            if result.text != text { changes.append(Change(path: path, before: text, after: result.text)) }
            guard result.importsAlways || result.importsOnCondition else { continue }
            remarks += result.remarks.map { "\(path):\($0.line): \($0.text)" }
            let candidates = adopted.targets.flatMap { target in target.folders.map { (target.name, $0) } }
                .filter { path.hasPrefix($0.1 + "/") || $0.1.isEmpty }
            guard let target = candidates.max(by: { $0.1.count < $1.1.count })?.0 else {
                remarks.append("\(path): its target is not found: add the product LoadingKit to it by hand")
                continue
            }
            targets[target] = targets[target, default: true] && !result.importsAlways
        }
        guard !targets.isEmpty || !changes.isEmpty else { return }
        adopted.add(source, to: targets.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        changed += adopted.changes.map { "Package.swift: \($0)" }
        remarks += adopted.remarks.map { "Package.swift: \($0)" }
        if adopted.text != manifest {
            changes.append(Change(path: "Package.swift", before: manifest, after: adopted.text))
        }
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
                case .typeRegular? where place.isEmpty && name.hasPrefix("Package@"):
                    remarks.append("\(name): is not changed")
                case .typeRegular? where name.hasSuffix(".swift") && "\(place)\(name)" != "Package.swift":
                    found.append("\(place)\(name)")
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
