/// The version of SwiftPM for which a manifest is written.
struct ToolsVersion: Comparable, CustomStringConvertible {
    let major: Int
    let minor: Int

    init(major: Int, minor: Int) { (self.major, self.minor) = (major, minor) }

    /// The version in the manifest's first line. Without one the manifest is for Swift 3.1.
    init(manifest: String) {
        let form = /^\s*\/\/\s*swift-tools-version\s*:\s*(\d+)(?:\.(\d+))?/.ignoresCase()
        let match = manifest.firstMatch(of: form)
        self.init(major: match.flatMap { Int($0.1) } ?? 3, minor: match.map { Int($0.2 ?? "0") ?? 0 } ?? 1)
    }

    var description: String { "\(major).\(minor)" }

    static func < (left: ToolsVersion, right: ToolsVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }
}
