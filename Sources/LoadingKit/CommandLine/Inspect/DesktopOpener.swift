import Foundation

/// Opens files with the programs of the user's desktop.
struct DesktopOpener {
    private let environment: [String: String]

    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) { self.environment = environment }

    /// Opens a file where there are a display and `xdg-open`, which may run as long as the browser that it starts.
    func open(_ path: String) {
        guard let program else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // The path is printed in any case.
        try? process.run()
    }

    /// The path of `xdg-open`; nil without it, or without a display.
    var program: String? {
        let displays = ["DISPLAY", "WAYLAND_DISPLAY"].compactMap { environment[$0] }
        guard displays.contains(where: { !$0.isEmpty }) else { return nil }
        let folders = (environment["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        return folders.map { "\($0)/xdg-open" }.first { access($0, X_OK) == 0 }
    }
}
