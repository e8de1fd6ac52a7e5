import LoadingKitHTTP2

/// The results of received bytes: events as text, and the end of the connection.
struct Transcript: Equatable {
    var events: [String] = []
    var error: HTTP2ErrorCode?

    /// Feeds bytes in pieces of a size.
    mutating func feed(_ bytes: [UInt8], to connection: inout HTTP2ConnectionStateMachine, pieces: Int = .max) {
        var rest = bytes[...]
        while !rest.isEmpty, error == nil {
            let piece = Array(rest.prefix(pieces))
            rest = rest.dropFirst(piece.count)
            piece.withUnsafeBytes { input in
                var position = 0
                do throws(HTTP2Error) {
                    while let event = try connection.receive(input, &position) { note(event, input, &connection) }
                } catch {
                    self.error = error.code
                }
            }
        }
    }

    private mutating func note(
        _ event: HTTP2Event, _ input: UnsafeRawBufferPointer, _ connection: inout HTTP2ConnectionStateMachine
    ) {
        switch event {
        case .headers(let stream, let head, let end): note(stream, head, end ? " end" : "")
        case .data(let stream, let range, let count, let end):
            connection.didConsume(count, on: stream)
            if range.isEmpty, !end { return }
            let text = String(decoding: input[range], as: UTF8.self)
            // Pieces of one body are one.
            if let last = events.last, last.hasPrefix("\(stream): data "), !last.hasSuffix(" end") {
                events[events.count - 1] += text + (end ? " end" : "")
            } else {
                events.append("\(stream): data \(text)\(end ? " end" : "")")
            }
        case .streamReset(let stream, let code): events.append("\(stream): reset \(code)")
        case .streamFailed(let stream, let error): events.append("\(stream): failed \(error.code)")
        case .goAway(let last, let code, _, _): events.append("goaway \(last) \(code)")
        case .ready, .settingsChanged, .settingsAcknowledged, .pingAcknowledged, .windowOpened, .streamClosed: break
        }
    }

    private mutating func note(_ stream: HTTP2StreamID, _ head: HTTP2Head, _ end: String) {
        switch head {
        case .interim(let status, let fields), .response(let status, let fields):
            events.append("\(stream): \(status) \(fields.count)\(end)")
        case .request(let head): events.append("\(stream): \(head.method) \(head.path ?? "")\(end)")
        case .trailers(let fields): events.append("\(stream): trailers \(fields.count)")
        }
    }
}
