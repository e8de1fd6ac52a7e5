import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Programs with stream tasks, which keep the task and its session or let go of both.
@Suite struct StreamProgramTests {
    enum Program: String, CaseIterable, Sendable {
        /// Writes, reads the echo, says that this was all, and reads to the end.
        case echoes
        case cancelsReading, cancelsWriting
        /// Reads no more, while a write is under way; writes no more, while a read is.
        case closesRead, closesWrite
        /// Takes the streams, and copies, or lets go of them unopened, opened, or with the input still open.
        case capturesAndCopies, capturesAndDrops, capturesAndOpens, capturesAndClosesOutput
        case capturesAndCancels
        case isNeverResumed

        var expected: Set<String> {
            switch self {
            case .echoes: ["written", "read hello", "read at end", "end"]
            case .cancelsReading: ["read -999", "end -999"]
            case .cancelsWriting: ["written -999", "end -999"]
            case .closesRead: ["written", "end"]
            case .closesWrite: ["read at end", "end"]
            case .capturesAndCopies: ["captured", "copied hello", "written"]
            case .capturesAndDrops, .capturesAndOpens, .capturesAndClosesOutput: ["captured", "written"]
            case .capturesAndCancels: ["written -999", "read -999", "end -999"]
            case .isNeverResumed: ["written -999", "read -999", "end -999"]
            }
        }
    }

    private final class Delegate: NSObject, URLSessionStreamDelegate, @unchecked Sendable {  // constants
        let notes = Recorder<String>()
        private let program: Program

        init(_ program: Program) { self.program = program }

        static func describe(_ error: (any Error)?) -> String {
            error.map { " \(($0 as? URLError)?.code.rawValue ?? 0)" } ?? ""
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            notes.append("end" + Self.describe(error))
        }

        func urlSession(
            _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
            outputStream: OutputStream
        ) {
            notes.append("captured")
            switch program {
            case .capturesAndCopies: copy(inputStream, outputStream)
            case .capturesAndOpens:
                inputStream.open()
                outputStream.open()
            case .capturesAndClosesOutput:
                outputStream.open()
                outputStream.close()
            default: break
            }
        }

        private func copy(_ input: InputStream, _ output: OutputStream) {
            input.open()
            output.open()
            var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 100))
            while text.count < 5 {
                let count = input.read(&buffer, maxLength: buffer.count)
                guard count > 0 else { break }
                text += buffer[..<count]
            }
            notes.append("copied " + String(decoding: text, as: UTF8.self))
            output.close()
            input.close()
        }

        // MARK: The program

        func run(_ task: URLSessionStreamTask) {
            switch program {
            case .echoes:
                write("hello", to: task)
                task.readData(ofMinLength: 5, maxLength: 5, timeout: 0) { [self, weak task] data, _, error in
                    note(data, error)
                    task?.closeWrite()
                    if let task { read(task) }
                }
            case .cancelsReading:
                read(task)
                task.cancel()
            case .cancelsWriting:
                task.write(Data(count: 64 << 20), timeout: 0) { [notes] in
                    notes.append("written" + Self.describe($0))
                }
                task.cancel()
            case .closesRead:
                write("hello", to: task)
                task.closeRead()
                task.closeWrite()
            case .closesWrite:
                read(task)
                task.closeWrite()
            case .capturesAndCopies, .capturesAndDrops, .capturesAndOpens, .capturesAndClosesOutput:
                write("hello", to: task)
                task.captureStreams()
            case .capturesAndCancels, .isNeverResumed:
                write("hello", to: task)
                read(task)
                task.captureStreams()
                task.cancel()
            }
            if program != .isNeverResumed { task.resume() }
        }

        private func write(_ text: String, to task: URLSessionStreamTask) {
            task.write(Data(text.utf8), timeout: 0) { [notes] in notes.append("written" + Self.describe($0)) }
        }

        private func read(_ task: URLSessionStreamTask) {
            task.readData(ofMinLength: 1, maxLength: 100, timeout: 0) { [self] data, _, error in note(data, error) }
        }

        private func note(_ data: Data?, _ error: (any Error)?) {
            let text = data.map { " " + String(decoding: $0, as: UTF8.self) } ?? " at end"
            notes.append("read" + (error == nil ? text : Self.describe(error)))
        }
    }

    private final class Kept {
        var session: URLSession?
        var task: URLSessionStreamTask?
    }

    private struct Watched {
        weak var session: URLSession?
        weak var task: URLSessionStreamTask?
    }

    /// Sends all back, until the client has sent all.
    private static func echo(_ socket: StreamSocket) throws {
        while true {
            let bytes = try socket.read()
            if bytes.isEmpty { return }
            try socket.write(bytes)
        }
    }

    @Test(arguments: Program.allCases, [true, false])
    func everyHandlerIsCalledOnceAndNothingIsLeft(_ program: Program, isKept: Bool) async throws {
        let (opened, ended) = (Recorder<Int>(), Recorder<Int>())
        let peer = try ConnectionAcceptor(.ipv4()) { socket, number in
            opened.append(number)
            try? Self.echo(socket)
            socket.close()
            ended.append(number)
        }
        defer { peer.stop() }
        let port = Int(peer.address.port ?? 0)
        try await withTimeout("\(program)") {
            let delegate = Delegate(program)
            let start = {
                let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
                let task = session.streamTask(withHostName: "127.0.0.1", port: port)
                delegate.run(task)
                let kept = Kept()
                if isKept { (kept.session, kept.task) = (session, task) }
                return (kept, Watched(session: session, task: task))
            }
            let (kept, watched) = start()
            let count = program.expected.count
            let notes = await delegate.notes.count(reaches: count)
            #expect(notes.count == count && Set(notes) == program.expected, "\(notes)")
            // The peer's connections end: with the task, or with the streams that it has become.
            while ended.count < opened.count || watched.task != nil && !isKept {
                try Task.checkCancellation()
                await Task.yield()
            }
            if isKept {
                #expect(kept.task?.state == .completed)
                kept.session?.finishTasksAndInvalidate()
                (kept.session, kept.task) = (nil, nil)
            }
            while watched.session != nil || watched.task != nil {
                try Task.checkCancellation()
                await Task.yield()
            }
            #expect(delegate.notes.count == count)
        }
    }
}
