import Foundation

/// A program that was run to its end.
struct Command {
    /// What it wrote to its output.
    let output: String
    /// Microseconds, the program's start included.
    let processorTime: Double

    /// Throws when the program fails, or takes longer than half a minute.
    init(_ path: String, _ arguments: [String]) throws {
        let pipe = try ClosingPipe()
        let process = try ChildProcess(path, arguments, output: pipe.writing)
        pipe.closeWriting()
        // Ends a program that hangs, and with it the reading.
        let watchdog = DispatchWorkItem { process.kill() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 30, execute: watchdog)
        output = pipe.read()
        let (status, time) = process.wait()
        watchdog.cancel()
        processorTime = time
        guard status == 0 else { throw Failure("\(path) \(arguments.joined(separator: " ")) ended with \(status)") }
    }
}
