import LoadingKitHTTP1
import Testing

/// Every input in every state of a client's connection.
@Suite struct ClientConnectionPairTests {
    enum State: CaseIterable {
        case idle, sendingLength, sendingChunks, awaiting, awaitingTwo, receiving, receivingFirst, receivingWhileSending
        case switched, closing, closed, failed
    }

    enum Input: CaseIterable {
        case sendRequest, sendAhead, sendBody, finishBody, response, nothing, didReadBody, close
    }

    /// What an input gives, and afterwards: `+` another request may be sent, `>` ahead of an answer, `~` switched, `b` a body is awaited whose
    /// bytes may be read directly.
    static let expected: [State: [Input: String]] = [
        .idle: [
            .sendRequest: "sent>", .sendAhead: "sent>", .sendBody: "noBodyExpected+", .finishBody: "noBodyExpected+",
            .response: "unexpectedBytes", .nothing: "nil+", .didReadBody: "false+", .close: "nil",
        ],
        .sendingLength: [
            .sendRequest: "connectionBusy", .sendAhead: "connectionBusy", .sendBody: "sent",
            .finishBody: "bodyTooShort(missing: 2)",
            .response: "head b", .nothing: "nil", .didReadBody: "false", .close: "closedEarly(beforeResponse)",
        ],
        .sendingChunks: [
            .sendRequest: "connectionBusy", .sendAhead: "connectionBusy", .sendBody: "sent", .finishBody: "sent>",
            .response: "head b", .nothing: "nil", .didReadBody: "false", .close: "closedEarly(beforeResponse)",
        ],
        .awaiting: [
            .sendRequest: "connectionBusy>", .sendAhead: "sent>", .sendBody: "bodyTooLong>", .finishBody: "sent>",
            .response: "head> b", .nothing: "nil>", .didReadBody: "false>", .close: "closedEarly(beforeResponse)",
        ],
        .awaitingTwo: [
            .sendRequest: "connectionBusy>", .sendAhead: "sent>", .sendBody: "bodyTooLong>", .finishBody: "sent>",
            .response: "head> b", .nothing: "nil>", .didReadBody: "false>", .close: "closedEarly(beforeResponse)",
        ],
        .receiving: [
            .sendRequest: "connectionBusy> b", .sendAhead: "sent> b", .sendBody: "bodyTooLong> b",
            .finishBody: "sent> b", .response: "body+end+", .nothing: "nil> b", .didReadBody: "true+",
            .close: "closedEarly(inBody(missing: 1))",
        ],
        .receivingFirst: [
            .sendRequest: "connectionBusy> b", .sendAhead: "sent> b", .sendBody: "bodyTooLong> b",
            .finishBody: "sent> b", .response: "body+end>", .nothing: "nil> b", .didReadBody: "true>",
            .close: "closedEarly(inBody(missing: 1))",
        ],
        .receivingWhileSending: [
            .sendRequest: "connectionBusy b", .sendAhead: "connectionBusy b", .sendBody: "sent b",
            .finishBody: "bodyTooShort(missing: 2) b",
            .response: "body+end", .nothing: "nil b", .didReadBody: "true", .close: "closedEarly(inBody(missing: 1))",
        ],
        .switched: [
            .sendRequest: "connectionClosed~", .sendAhead: "connectionClosed~", .sendBody: "connectionClosed~",
            .finishBody: "connectionClosed~",
            .response: "nil~", .nothing: "nil~", .didReadBody: "false~", .close: "nil",
        ],
        .closing: [
            .sendRequest: "connectionClosed", .sendAhead: "connectionClosed", .sendBody: "connectionClosed",
            .finishBody: "connectionClosed",
            .response: "unexpectedBytes", .nothing: "nil", .didReadBody: "false", .close: "nil",
        ],
        .closed: [
            .sendRequest: "connectionClosed", .sendAhead: "connectionClosed", .sendBody: "connectionClosed",
            .finishBody: "connectionClosed",
            .response: "unexpectedBytes", .nothing: "nil", .didReadBody: "false", .close: "nil",
        ],
        .failed: [
            .sendRequest: "unexpectedBytes", .sendAhead: "unexpectedBytes", .sendBody: "unexpectedBytes",
            .finishBody: "unexpectedBytes",
            .response: "unexpectedBytes", .nothing: "unexpectedBytes", .didReadBody: "false",
            .close: "unexpectedBytes",
        ],
    ]

    @Test(arguments: State.allCases)
    func everyInput(_ state: State) throws {
        for input in Input.allCases {
            var connection = try Self.connection(in: state)
            var result = Self.give(input, to: &connection, in: state)
            if connection.canCarryAnotherRequest { result += "+" }
            if connection.canSendAhead { result += ">" }
            if connection.isSwitched { result += "~" }
            if connection.directBodyBytes > 0 { result += " b" }
            #expect(result == Self.expected[state]?[input], "\(state), \(input)")
        }
    }

    static let head = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"

    static func connection(in state: State) throws -> ClientConnection {
        var connection = ClientConnection()
        var output: [UInt8] = []
        func send(_ framing: RequestBodyFraming) throws {
            try connection.sendRequest(
                method: "POST", target: "/", fields: HTTPFields(), framing: framing, into: &output)
        }
        switch state {
        case .idle: break
        case .sendingLength: try send(.length(2))
        case .sendingChunks: try send(.chunked)
        case .awaiting: try send(.none)
        case .awaitingTwo, .receivingFirst:
            try send(.none)
            try connection.sendAhead(method: "GET", target: "/", fields: HTTPFields(), into: &output)
            if state == .receivingFirst { try receive(head, with: &connection) }
        case .receiving:
            try send(.none)
            try receive(head, with: &connection)
        case .receivingWhileSending:
            try send(.length(2))
            try receive(head, with: &connection)
        case .switched:
            try send(.none)
            try receive("HTTP/1.1 101 Switching Protocols\r\n\r\n", with: &connection)
        case .closing:
            try send(.none)
            try receive("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", with: &connection)
        case .closed:
            _ = try connection.finish()
        case .failed:
            #expect(throws: HTTP1Error.self) { try receive("x", with: &connection) }
        }
        return connection
    }

    @discardableResult
    static func receive(_ text: String, with connection: inout ClientConnection) throws -> [String] {
        var events: [String] = []
        try Array(text.utf8).withUnsafeBytes { input in
            var position = 0
            while let event = try connection.next(input, &position) {
                switch event {
                case .interim: events.append("interim")
                case .head: events.append("head")
                case .body: events.append("body")
                case .trailers: events.append("trailers")
                case .end: events.append("end")
                }
            }
        }
        return events
    }

    private static func give(_ input: Input, to connection: inout ClientConnection, in state: State) -> String {
        var output: [UInt8] = []
        var suffix: [UInt8] = []
        do {
            switch input {
            case .sendRequest:
                try connection.sendRequest(
                    method: "GET", target: "/", fields: HTTPFields(), framing: .none, into: &output)
                return "sent"
            case .sendAhead:
                try connection.sendAhead(method: "GET", target: "/", fields: HTTPFields(), into: &output)
                return "sent"
            case .sendBody:
                try connection.sendBody(1, before: &output, after: &suffix)
                return "sent"
            case .finishBody:
                try connection.finishBody(into: &output)
                return "sent"
            case .response:
                let isInBody = [.receiving, .receivingFirst, .receivingWhileSending].contains(state)
                let events = try receive(isInBody ? "x" : head, with: &connection)
                return events.isEmpty ? "nil" : events.joined(separator: "+")
            case .nothing:
                let events = try receive("", with: &connection)
                return events.isEmpty ? "nil" : events.joined(separator: "+")
            case .didReadBody:
                return "\(connection.didReadBody(1))"
            case .close:
                return try connection.finish() == nil ? "nil" : "end"
            }
        } catch let error as HTTP1Error {
            return name(of: error.kind)
        } catch {
            return "\(error)"
        }
    }

    /// The case's name, as it stands in the table.
    private static func name(of kind: HTTP1Error.Kind) -> String {
        switch kind {
        case .closedEarly(.inBody(let missing)): "closedEarly(inBody(missing: \(missing)))"
        case .closedEarly(.beforeResponse): "closedEarly(beforeResponse)"
        case .bodyTooShort(let missing): "bodyTooShort(missing: \(missing))"
        case .noBodyExpected: "noBodyExpected"
        case .unexpectedBytes: "unexpectedBytes"
        case .connectionBusy: "connectionBusy"
        case .connectionClosed: "connectionClosed"
        case .bodyTooLong: "bodyTooLong"
        default: "\(kind)"
        }
    }
}
