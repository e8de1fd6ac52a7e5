import Foundation

/// A program that shows its traffic: `loadkit inspect -- PROGRAM`. The program, and those that it starts, write the
/// addresses of their pages into a named pipe of this one.
struct InspectedProgram {
    /// The program's name or path, and its arguments.
    let arguments: [String]
    /// Whether the page may hold and change requests and responses.
    let allowsChanges: Bool
    let opener = DesktopOpener()

    /// Runs the program with this one's input and output, and returns its exit status.
    func run() throws -> Int32 {
        let folder = try Self.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let pipe = "\(folder)/pages"
        guard mkfifo(pipe, 0o600) == 0 else { throw ToolFailure.writing(pipe, errno) }
        // Opened for both, so that it does not end with the first program that writes.
        let descriptor = open(pipe, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw ToolFailure.writing(pipe, errno) }
        let reader = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let opener = opener
        Thread.detachNewThread {
            var text = ""
            while true {
                let data = reader.availableData
                if data.isEmpty { return }
                text += String(decoding: data, as: UTF8.self)
                while let end = text.firstIndex(of: "\n") {
                    let address = String(text[..<end])
                    text.removeSubrange(...end)
                    Console.standardError.write("loadkit: the traffic is shown at \(PlainText.line(address))\n")
                    _ = opener.open(secret: address, in: folder)
                }
            }
        }
        let environment = ["LOADKIT_INSPECT": pipe, "LOADKIT_INSPECT_CHANGES": allowsChanges ? "1" : "0"]
        return try ForegroundProcess(arguments, environment: environment).waitUntilExit()
    }

    /// A new folder for this user alone (mkdtemp(3)).
    private static func makeFolder() throws(ToolFailure) -> String {
        let place = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("loadkit-XXXXXX").path
        var template = Array(place.utf8CString)
        guard mkdtemp(&template) != nil else { throw .writing("a folder in \(NSTemporaryDirectory())", errno) }
        return String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
