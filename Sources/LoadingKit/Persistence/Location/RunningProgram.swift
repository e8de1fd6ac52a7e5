import CLoadingKitShims
import Foundation
import LoadingKitCore
@_spi(LoadingKitPlugins) import LoadingKitTransport

/// The identity of the program in this process, which separates its stores from those of another program with the same
/// name.
enum RunningProgram {
    /// The name by which the program was started.
    static let name = URL(fileURLWithPath: CommandLine.arguments.first ?? "").lastPathComponent

    /// The bundle identifier, if the program has one: it identifies the program independently of its location.
    static let bundleIdentifier = MainInfoPlist.read()["CFBundleIdentifier"] as? String

    /// A name for the program's stores.
    static let identifier = bundleIdentifier ?? identifier(name: name, path: path)

    /// 64 bits of the path's SHA-256 are sufficient: an attacker gains nothing from another path with the same bits.
    static func identifier(name: String, path: String) -> String {
        var hash = SHA256()
        hash.update(path)
        let digits = (hash.digest() ?? Data()).prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "\(name)-\(digits.joined())"
    }

    /// The path of the program's file, without symbolic links. If the program was started through the dynamic linker,
    /// as some program bundles are, this is the program and not the linker.
    private static var path: String {
        file(at: lk_program_entry(), inMaps: contents("/proc/self/maps"))
            ?? (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? URL(fileURLWithPath: CommandLine.arguments.first ?? "").resolvingSymlinksInPath().path
    }

    /// Reads the whole file. Foundation reads only the beginning of such a file, which has no size.
    static func contents(_ path: String) -> String {
        let descriptor = Int32(truncatingIfNeeded: SystemCalls.open(path, O_RDONLY))
        guard descriptor >= 0 else { return "" }
        defer { SystemCalls.close(descriptor) }
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while case let count = buffer.withUnsafeMutableBytes({ SystemCalls.read(descriptor, $0) }), count > 0 {
            all += buffer[..<count]
        }
        return String(decoding: all, as: UTF8.self)
    }

    /// The file from which an address is mapped, according to `/proc/self/maps`.
    static func file(at address: UInt, inMaps maps: String) -> String? {
        for line in maps.split(separator: "\n") {
            // The range, the permissions, the offset, the device, the number of the file, and its path.
            let fields = line.split(separator: " ", maxSplits: 5)
            let range = fields.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
            guard fields.count == 6, range.count == 2, range[0] <= address, address < range[1] else { continue }
            let path = fields[5].drop { $0 == " " }
            return path.hasPrefix("/") ? withoutNote(String(path)) : nil
        }
        return nil
    }

    /// A program that was rebuilt while it runs keeps its path.
    private static func withoutNote(_ path: String) -> String {
        let note = " (deleted)"
        return path.hasSuffix(note) && !FileManager.default.fileExists(atPath: path)
            ? String(path.dropLast(note.count)) : path
    }
}
