import Foundation
import LoadingKitCore

/// The units by which systemd starts the daemon: when a program connects, and when the user logs in, so that unfinished
/// transfers continue.
struct UnitFiles: Hashable {
    static let serviceName = "loadkitd.service"
    static let socketName = "loadkitd.socket"
    static let names = [serviceName, socketName]

    /// The path of `loadkitd`.
    let daemon: String

    var service: String {
        Resource(PackageResources.loadkitd_service_txt, ["daemon": Self.quoted(daemon)]).text
    }

    var socket: String { Resource(PackageResources.loadkitd_socket_txt).text }

    /// The program of a command (systemd.service(5), "Command lines"): variables are replaced only in its arguments, so
    /// that a dollar sign here is literal.
    static func quoted(_ word: String) -> String {
        var text = ""
        for scalar in word.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "%": text += "%%"
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return "\"\(text)\""
    }
}

/// The folder of a user's units.
struct UnitFolder: Hashable {
    let path: String

    /// `$XDG_CONFIG_HOME/systemd/user`, or below `~/.config`.
    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
        path = BaseFolder.configuration.url(environment).appendingPathComponent("systemd/user").path
    }

    /// Writes the files, and replaces those of an earlier version.
    func write(_ files: UnitFiles) throws {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for (name, text) in zip(UnitFiles.names, [files.service, files.socket]) {
                try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"), options: .atomic)
            }
        } catch {
            throw ToolFailure(.writeError, "units cannot be written to \(path): \(error.localizedDescription)")
        }
    }

    /// Removes the files; returns whether there was one.
    func remove() throws -> Bool {
        let files = UnitFiles.names.map { "\(path)/\($0)" }
            .filter { FileManager.default.fileExists(atPath: $0) }
        do {
            for file in files { try FileManager.default.removeItem(atPath: file) }
        } catch {
            throw ToolFailure(.writeError, "a unit cannot be removed: \(error.localizedDescription)")
        }
        return !files.isEmpty
    }
}
