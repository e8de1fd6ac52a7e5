import Foundation
import LoadingKitPrimitives

/// Asks for a password on a terminal, which does not show it.
enum PasswordPrompt {
    static func ask(_ user: String, on path: String = "/dev/tty") throws -> String {
        let descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, let silence = TerminalSilence(descriptor) else {
            throw ToolFailure(
                .usage, "-u \(user) has no password, and there is no terminal to ask for it: use NAME:PASSWORD")
        }
        defer { silence.end() }
        _ = writeAll(Array("Password of \(PlainText.line(user)): ".utf8), to: descriptor)
        let line = readLine(descriptor)
        _ = writeAll([UInt8(ascii: "\n")], to: descriptor)
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

/// A terminal does not show the typed text, until this ends, or the process does: by itself, by Ctrl-C or by `SIGTERM`.
private struct TerminalSilence {
    /// The terminal, and its settings from before.
    private static let silenced = Guarded<(descriptor: Int32, settings: termios)?>(nil)
    private static let restoringAtExit: Void = { _ = atexit { TerminalSilence.restore() } }()

    private let signals: [(number: Int32, source: any DispatchSourceSignal)]

    /// Nil where the descriptor is not a terminal's.
    init?(_ descriptor: Int32) {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { return nil }
        _ = Self.restoringAtExit
        Self.silenced.withLock { [settings] in $0 = (descriptor, settings) }
        signals = [SIGINT, SIGTERM].map { number in
            let source = DispatchSource.follow(number) {
                Self.restore()
                signal(number, SIG_DFL)
                kill(getpid(), number)
            }
            return (number, source)
        }
        settings.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(descriptor, TCSAFLUSH, &settings)
    }

    func end() {
        Self.restore()
        for (number, source) in signals {
            source.cancel()
            signal(number, SIG_DFL)
        }
    }

    private static func restore() {
        guard let (descriptor, settings) = silenced.withLock({ $0.take() }) else { return }
        var before = settings
        tcsetattr(descriptor, TCSAFLUSH, &before)
    }
}
