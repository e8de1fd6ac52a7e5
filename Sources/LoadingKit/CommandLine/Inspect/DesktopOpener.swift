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

    /// Opens an address that contains a secret. The browser opens a file that redirects to the address and that only
    /// the user can read, because all users can read the arguments of a process (proc(5)).
    ///
    /// - Returns: the file; nil if nothing is opened.
    func open(secret address: String, in folder: String = NSTemporaryDirectory()) -> PageFile? {
        guard program != nil, let file = try? PageFile.temporary(in: folder) else { return nil }
        do {
            try file.write(Self.page(redirectingTo: address))
        } catch {
            file.remove()
            return nil
        }
        open(URL(fileURLWithPath: file.path).standardizedFileURL.path)
        return file
    }

    private static func page(redirectingTo address: String) -> [UInt8] {
        let escapes: [Unicode.Scalar: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]
        let place = address.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
        let lines = [
            "<!DOCTYPE html>", "<meta charset=\"utf-8\">", "<title>loadkit</title>",
            "<meta http-equiv=\"refresh\" content=\"0; url=\(place)\">", "<a href=\"\(place)\">The inspector</a>",
        ]
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// The path of `xdg-open`; nil without it, or without a display.
    var program: String? {
        let displays = ["DISPLAY", "WAYLAND_DISPLAY"].compactMap { environment[$0] }
        guard displays.contains(where: { !$0.isEmpty }) else { return nil }
        let folders = (environment["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        return folders.map { "\($0)/xdg-open" }.first { access($0, X_OK) == 0 }
    }
}
