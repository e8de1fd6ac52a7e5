#if CommandLineTool
    import Foundation
    import LoadingKit

    /// Writes a body to its file, or to standard output when it is its turn, and slows the task down where necessary. Used
    /// on the transfers' queue alone.
    struct BodyWriter {
        /// The number of bytes waiting for their turn on standard output from which the load is suspended.
        private static let highWater = 1 << 20

        private let index: Int
        private let load: PlannedLoad
        private let plan: LoadPlan
        private let output: OrderedOutput
        private let queue: DispatchQueue
        private let usesOutput: Bool
        /// The files that earlier attempts of the load have made, which this one may overwrite.
        private let created: Set<String>
        /// Nil where the body is written as it is.
        private let terminal: Terminal?
        private var screen: ScreenBody?

        private var file: OutputFile?
        private var date: Date?
        private let turn = Turn()
        /// The heads that precede the body in its file.
        var heads = Data()
        /// The number of the body's bytes.
        private(set) var count: Int64 = 0
        private let start = DispatchTime.now()

        /// Whether the task waits for its turn.
        private final class Turn: @unchecked Sendable {  // used only on the transfers' queue
            var isAwaited = false
        }

        init(_ index: Int, _ load: PlannedLoad, _ plan: LoadPlan, _ outlets: Outlets, created: Set<String>) {
            (self.index, self.load, self.plan, self.created) = (index, load, plan, created)
            (output, queue) = (outlets.output, outlets.queue)
            usesOutput = plan.usesStandardOutput(load)
            terminal = load.destination == .standardOutput ? outlets.screen : nil
        }

        /// Whether the terminal's line has text of the body.
        var isMidLineOfTerminal: Bool {
            load.destination.isStandardOutput && !output.isAtLineStart && isatty(STDOUT_FILENO) == 1
        }

        /// The file's path; nil for standard output.
        var path: String? { file?.path }

        /// The path of the file that has a part of the body; nil where none was opened.
        var openPath: String? { file.flatMap { $0.isOpen ? $0.path : nil } }

        /// Prepares for the body. False where nothing of it is needed, because the file already has all of it.
        mutating func begin(_ response: URLResponse) throws(ToolFailure) -> Bool {
            guard try continues(response) else { return false }
            date = plan.files.keepsTime ? (response as? HTTPURLResponse)?.lastModified : nil
            try openFile(response)
            screen = terminal.map { terminal in
                ScreenBody(
                    type: response.mimeType, length: response.expectedContentLength, laysOut: plan.display.laysOut,
                    terminal)
            }
            return true
        }

        private mutating func openFile(_ response: URLResponse?) throws(ToolFailure) {
            guard file == nil, let path = try load.destination.path(response) else { return }
            var opening = OutputFile.Opening(kept: load.kept, makesFolders: plan.files.makesFolders)
            if case .named = load.destination { opening.mustBeNew = !created.contains(path) }
            file = OutputFile(path, opening)
        }

        /// Whether the response has the bytes that follow those of the file.
        private func continues(_ response: URLResponse) throws(ToolFailure) -> Bool {
            guard load.offset > 0, let response = response as? HTTPURLResponse else { return true }
            if load.isComplete(response) { return false }
            let range = response.value(forHTTPHeaderField: "Content-Range") ?? ""
            if response.statusCode == 206, range.hasPrefix("bytes \(load.offset)-") { return true }
            throw ToolFailure(.rangeError, "the server cannot continue at byte \(load.offset) (-C)")
        }

        mutating func write(_ data: Data, _ task: URLSessionTask) throws(ToolFailure) {
            count += Int64(data.count)
            try send(screen?.receive(data) ?? data, task)
        }

        /// Writes a message of a conversation: a text as a line, and bytes as they are. A terminal gets their number.
        mutating func write(_ message: URLSessionWebSocketTask.Message, _ task: URLSessionTask) throws(ToolFailure) {
            switch message {
            case .string(let text):
                count += Int64(text.utf8.count)
                let line = terminal == nil ? Array(text.utf8) : VisibleText.escaped(Array(text.utf8)[...])
                try send(Data(line + "\n".utf8), task)
            case .data(let data):
                count += Int64(data.count)
                let isShown = terminal?.isTerminal == true
                try send(isShown ? Data("(a binary message of \(data.count) bytes)\n".utf8) : data, task)
            }
        }

        private mutating func send(_ data: Data, _ task: URLSessionTask) throws(ToolFailure) {
            guard let file else { return try writeToOutput(data, task) }
            if !heads.isEmpty { try file.write(heads) }
            heads = Data()
            try file.write(data)
        }

        /// Writes to standard output, or suspends the task until it is its turn.
        func writeToOutput(_ data: Data, _ task: URLSessionTask) throws(ToolFailure) {
            guard try output.write(data, for: index) > Self.highWater, !turn.isAwaited else { return }
            turn.isAwaited = true
            task.suspend()
            output.whenTurnComes(for: index) { [turn] in
                turn.isAwaited = false
                task.resume()
            }
        }

        /// Suspends the task until its bytes are within the rate.
        ///
        /// - Parameter rate: bytes in a second.
        func keep(to rate: Int64, _ task: URLSessionTask) {
            let due = start + Double(count) / Double(rate)
            guard due > .now() + 0.005 else { return }
            task.suspend()
            queue.asyncAfter(deadline: due) { task.resume() }
        }

        /// An empty body makes an empty file. A failed load leaves the existing file, or the received part.
        mutating func finish(succeeded: Bool, _ task: URLSessionTask) throws(ToolFailure) {
            if let rest = screen?.finish() { try writeToOutput(rest, task) }
            if succeeded {
                if load.offset == 0 { try openFile(nil) }
                try file?.open()
                if !heads.isEmpty { try file?.write(heads) }
            }
            try file?.finish(changedAt: date)
        }

        /// The load writes no more to standard output.
        func finishOutput() throws(ToolFailure) { if usesOutput { try output.finish(index) } }
    }
#endif
