import Foundation
import Testing

/// A terminal whose output a test reads.
final class PseudoTerminal: Sendable {
    /// `TIOCSPTLCK` and `TIOCGPTN`: macros that Swift does not see, like the functions that use them.
    private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

    private let near: Int32
    /// The program's side.
    let far: FileHandle

    /// A changed root may have no pseudo-terminals.
    static let isAvailable = (try? PseudoTerminal()) != nil
    static let missing: Comment = "there are no pseudo-terminals: mount devpts at /dev/pts"

    init() throws {
        near = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number): (Int32, UInt32) = (0, 0)
        guard near >= 0, ioctl(near, Self.setLock, &locked) == 0, ioctl(near, Self.getNumber, &number) == 0 else {
            throw CocoaError(.featureUnsupported)
        }
        let descriptor = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CocoaError(.featureUnsupported) }
        far = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    deinit { close(near) }

    func setSize(columns: UInt16, lines: UInt16) {
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(near, UInt(TIOCSWINSZ), &size)
    }

    /// Whether the terminal shows what is typed.
    var showsInput: Bool {
        var settings = termios()
        return tcgetattr(far.fileDescriptor, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// The process group that the terminal's keys interrupt.
    var foreground: pid_t { tcgetpgrp(near) }

    /// Sends what a user would type.
    func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard write(near, bytes, bytes.count) == bytes.count else { throw CocoaError(.fileWriteUnknown) }
    }

    /// Blocks until the program has written this text; returns all of its output.
    func read(until text: String) throws -> String {
        var shown = Data()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: shown, as: UTF8.self).contains(text) {
            let count = Foundation.read(near, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw CocoaError(.fileReadUnknown) }
            shown += buffer.prefix(count)
        }
        return String(decoding: shown, as: UTF8.self)
    }
}
