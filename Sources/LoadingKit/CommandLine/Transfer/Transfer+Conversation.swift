#if CommandLineTool
    import Foundation
    import LoadingKit

    /// The server's side of a conversation.
    extension Transfer: URLSessionWebSocketDelegate {
        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
        ) {
            response = webSocketTask.response
            do throws(ToolFailure) {
                if let response { _ = try writer.begin(response) }
            } catch {
                return end(webSocketTask, with: error)
            }
            conversation = Conversation(webSocketTask, outlets.queue) { [weak self, weak webSocketTask] failure in
                if let webSocketTask { self?.end(webSocketTask, with: failure) }
            }
            receiveMessage(webSocketTask)
        }

        private func receiveMessage(_ task: URLSessionWebSocketTask) {
            task.receive { [weak self] result in
                guard let self, case .success(let message) = result else { return }
                do throws(ToolFailure) {
                    try writer.write(message, task)
                    receiveMessage(task)
                } catch {
                    end(task, with: error)
                }
            }
        }

        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
            didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
        ) {
            let isClosing = conversation?.isClosing == true
            let reason = reason.map { " \(String(decoding: $0, as: UTF8.self))" } ?? ""
            let text = "the server closed the connection: \(closeCode.rawValue)\(reason)"
            switch closeCode {
            case .normalClosure, .goingAway:
                guard plan.display.showsErrors, !isClosing || !reason.isEmpty else { return }
                outlets.console.write("* \(PlainText.line(text))\n")
            case .noStatusReceived where isClosing: break
            case _: end(webSocketTask, with: ToolFailure(.receiveFailure, text))
            }
        }
    }
#endif
