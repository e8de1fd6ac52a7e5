import Foundation

/// Asks for a password on a terminal, which does not show it.
enum PasswordPrompt {
    static let terminal = "/dev/tty"

    static func ask(_ user: String, on path: String = terminal) throws -> String {
        let descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        var before = termios()
        guard descriptor >= 0, tcgetattr(descriptor, &before) == 0 else {
            if descriptor >= 0 { close(descriptor) }
            throw ToolFailure(
                .usage, "-u \(user) has no password, and there is no terminal to ask for it: use NAME:PASSWORD")
        }
        defer { close(descriptor) }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(descriptor, TCSAFLUSH, &silent)
        defer { tcsetattr(descriptor, TCSAFLUSH, &before) }
        _ = DescriptorWriter(descriptor).write(Array("Password of \(PlainText.line(user)): ".utf8))
        let line = readLine(descriptor)
        _ = DescriptorWriter(descriptor).write([UInt8(ascii: "\n")])
        return line
    }

    private static func readLine(_ descriptor: Int32) -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") else { break }
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }
}
