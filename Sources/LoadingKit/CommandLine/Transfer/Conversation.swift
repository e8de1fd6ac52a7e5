#if CommandLineTool
    import Foundation
    import LoadingKit

    /// This side of a WebSocket connection: lines of standard input are text messages, and their end, or Ctrl-C, closes
    /// the connection.
    final class Conversation: @unchecked Sendable {  // used only on the transfers' queue
        private let task: URLSessionWebSocketTask
        private let queue: DispatchQueue
        private let fail: @Sendable (ToolFailure) -> Void
        private var interruption: (any DispatchSourceSignal)?
        /// Whether this side has begun to close the connection.
        private(set) var isClosing = false

        /// - Parameter fail: ends the task because standard input cannot be read.
        init(
            _ task: URLSessionWebSocketTask, _ queue: DispatchQueue, fail: @escaping @Sendable (ToolFailure) -> Void
        ) {
            (self.task, self.queue, self.fail) = (task, queue, fail)
            watchInterruptions()
            // The thread stays in its system call when the server closes the connection first.
            Thread.detachNewThread { [self] in sendLines() }
        }

        /// The task has ended.
        func end() {
            interruption?.cancel()
            interruption = nil
            signal(SIGINT, SIG_DFL)
        }

        private func watchInterruptions() {
            interruption = DispatchSource.follow(SIGINT) { [weak self, queue] in
                queue.async { [weak self] in self?.interrupt() }
            }
        }

        /// The second Ctrl-C does not wait for the server.
        private func interrupt() {
            if isClosing { task.cancel() } else { close(.goingAway) }
        }

        private func close(_ code: URLSessionWebSocketTask.CloseCode) {
            isClosing = true
            task.cancel(with: code, reason: nil)
        }

        /// Reads the next line when the connection has taken the previous one.
        private func sendLines() {
            let isSent = DispatchSemaphore(value: 0)
            var lines = InputLines()
            while let line = lines.next() {
                task.send(.string(line)) { _ in isSent.signal() }
                isSent.wait()
            }
            queue.async { [self, code = lines.failure] in
                if isClosing { return }
                // A process that was started without standard input has an empty one.
                guard let code, code != EBADF else { return close(.normalClosure) }
                fail(ToolFailure(.readError, StandardInput.ReadError(code: code).description))
            }
        }
    }
#endif
