import Foundation

/// A data task that becomes a stream task.
extension TaskEngine {
    func becomeStream() {
        guard let old = task as? URLSessionDataTask else { return }
        let connection: TakenConnection?
        do { connection = try takeConnection() } catch { return end(with: error) }
        let stream = URLSessionStreamTask(session, continuing: old, through: connection?.tunnel)
        core.replace(old, by: stream)
        task = stream
        core.mailbox.post { [delegate, session] in
            delegate.didBecome(stream, session, old)
            old.letGo()
        }
        let body = StreamBody(self)
        consumer = .stream(body)
        if let connection {
            stop()
            stream.engine = StreamEngine(stream, continuing: self, on: StreamConnection(connection))
        } else {
            stream.engine = StreamEngine(stream, continuing: self, on: body)
            release(.undecided)
        }
    }
}
