#if CommandLineTool
    import Foundation
    import LoadingKit

    /// This side of a WebSocket connection: lines of standard input are text messages, and their end, or Ctrl-C, closes
    /// the connection.
    final class Conversation: @unchecked Sendable {  // used only on the transfers' queue
        private let task: URLSessionWebSocketTask
        private let queue: DispatchQueue
        private var interruption: (any DispatchSourceSignal)?
        /// Whether this side has begun to close the connection.
        private(set) var isClosing = false

        init(_ task: URLSessionWebSocketTask, _ queue: DispatchQueue) {
            (self.task, self.queue) = (task, queue)
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
            for line in InputLines() {
                task.send(.string(line)) { _ in isSent.signal() }
                isSent.wait()
            }
            queue.async { [self] in if !isClosing { close(.normalClosure) } }
        }
    }
#endif
