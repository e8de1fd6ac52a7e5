import Foundation
import LoadingKitCore
import LoadingKitHAR
import LoadingKitTransport

/// Serves the page, and sends messages about the sessions to it. Confined to the inspector's event loop.
final class InspectorServer: @unchecked Sendable {  // confined to `loop`, from `start()` on
    /// The time between two updates of the pages, in seconds, and the updates between two requests for the state of the
    /// connections.
    private static let interval = 0.1
    private static let connectionInterval = 5
    /// The most entries that are made at once. The loop serves other pages and the program's sessions in between.
    static let entriesAtOnce = 200
    static let mostConnections = 64
    /// The time in which a connection has to be let in, in seconds.
    private static let admissionTime = 10.0

    private struct Page {
        let connection: InspectorConnection
        /// The loads from before the page was opened that it has not got.
        var earlier: ArraySlice<Int>
    }

    let loop: EventLoop
    private(set) var access: InspectorAccess?
    private let listener: LocalListener
    private let inbox: TrafficInbox
    /// Nil where the program allows no changes.
    private let holds: HoldRecorder?
    private let redacts: Bool
    private var traffic: LiveTraffic
    private(set) var connections: [InspectorConnection] = []
    private var pages: [Page] = []
    private var timer: LoopTimer?
    private var turn = 0

    init(
        _ listener: LocalListener, _ access: InspectorAccess, _ loop: EventLoop, _ rules: HARRules, redacts: Bool,
        _ inbox: TrafficInbox, _ holds: HoldRecorder?
    ) {
        self.loop = loop
        self.access = access
        self.listener = listener
        self.inbox = inbox
        self.holds = holds
        self.redacts = redacts
        traffic = LiveTraffic(rules)
    }

    func start() {
        listener.didAccept = { [weak self] in self?.accept($0) }
        // Without it no page can be opened; the program goes on.
        if listener.start() != nil { stop() }
    }

    func stop() {
        access = nil
        listener.close()
        timer?.cancel()
        holds?.set(isWatched: false)
        holds?.releaseAll()
        for connection in connections { connection.close() }
    }

    // MARK: Connections

    private func accept(_ socket: LocalSocket) {
        if connections.count >= Self.mostConnections {
            // Another user of the machine can open connections, and must not keep the page out.
            guard let stranger = connections.first(where: { !$0.isAdmitted }) else { return socket.close() }
            stranger.close()
        }
        let connection = InspectorConnection(socket, self)
        connections.append(connection)
        connection.start()
        _ = loop.schedule(at: loop.now.advanced(bySeconds: Self.admissionTime)) { [weak connection] in
            if connection?.isAdmitted == false { connection?.close() }
        }
    }

    private var anchor: WallClockAnchor { WallClockAnchor(loop) }

    // MARK: Messages

    /// Takes the inputs of the sessions, and sends the pages what has changed.
    func update() {
        let (sessions, inputs, isMissing) = inbox.take()
        traffic.receive(sessions)
        traffic.receive(inputs, isMissing: isMissing, anchor)
        if isMissing, let holds { traffic.correctHeld(holds.heldLoads) }
        if pages.isEmpty { return traffic.dropNews() }
        guard traffic.hasNews else { return }
        send(traffic.takeNews(anchor, atMost: Self.entriesAtOnce))
    }

    /// Sends messages to all pages.
    private func send(_ messages: [JSONValue]) {
        for message in messages {
            let text = message.text()
            for page in pages { page.connection.send(event: text) }
        }
    }

    /// Sends the loads from before a page was opened, as fast as the page takes them.
    private func sendEarlier() {
        // A page whose connection fails is removed meanwhile.
        for connection in pages.map(\.connection) where connection.hasRoom {
            guard let index = pages.firstIndex(where: { $0.connection === connection }) else { continue }
            let numbers = pages[index].earlier.prefix(Self.entriesAtOnce)
            pages[index].earlier.removeFirst(numbers.count)
            for message in traffic.messages(of: numbers, anchor) { connection.send(event: message.text()) }
        }
    }

    /// Schedules the next update, unless it is scheduled already or no page is open.
    private func scheduleUpdate() {
        guard timer == nil, !pages.isEmpty else { return }
        timer = loop.schedule(at: loop.now.advanced(bySeconds: Self.interval)) { [weak self] in
            guard let self else { return }
            timer = nil
            guard !pages.isEmpty else { return }
            turn += 1
            sendEarlier()
            update()
            if turn.isMultiple(of: Self.connectionInterval) { askForConnections() }
            scheduleUpdate()
        }
    }

    /// Asks each session for its connections, on its own loop.
    private func askForConnections() {
        for case let core as SessionCore in LiveSessions.all where traffic.knows(core.identity) {
            core.loop.execute { [inbox] in
                inbox.add(.connections(core.identity, core.connectionStates()))
            }
        }
    }

    private var rulesMessage: JSONValue {
        ["type": "rules", "rules": .array(holds?.rules.map(\.value) ?? [])]
    }

    private var optionsMessage: JSONValue {
        [
            "type": "options", "allowsChanges": .bool(holds != nil), "redacts": .bool(redacts),
            "program": .string(ProcessInfo.processInfo.processName),
            "process": .integer(Int64(ProcessInfo.processInfo.processIdentifier)),
        ]
    }
}

extension InspectorServer: InspectorRequestHandler {
    func page() -> (bytes: [UInt8], policy: String) {
        let page = InspectorPage.live(name: ProcessInfo.processInfo.processName)
        return (page.bytes, page.policy)
    }

    func didOpenEvents(_ connection: InspectorConnection) {
        update()
        inbox.set(isWatched: true)
        holds?.set(isWatched: true)
        // Before anything is sent to it: if the connection fails, the page is removed.
        pages.append(Page(connection: connection, earlier: traffic.loadNumbers[...]))
        for message in [optionsMessage, rulesMessage] + traffic.stateMessages + traffic.heldMessages {
            connection.send(event: message.text())
        }
        sendEarlier()
        scheduleUpdate()
    }

    func didClose(_ connection: InspectorConnection) {
        connections.removeAll { $0 === connection }
        let pageCount = pages.count
        pages.removeAll { $0.connection === connection }
        // A connection may have waited for a descriptor. The caller may be about to accept or to send to another one.
        loop.executeLater { [listener] in listener.acceptAll() }
        guard pages.isEmpty, pageCount > 0 else { return }
        inbox.set(isWatched: false)
        holds?.set(isWatched: false)
        // No page can decide about the held loads. A page that is loaded again connects before this time.
        _ = loop.schedule(at: loop.now.advanced(bySeconds: Self.admissionTime)) { [weak self] in
            if let self, pages.isEmpty { holds?.releaseAll() }
        }
    }

    // MARK: Actions

    func perform(_ action: [UInt8]) -> String? {
        guard let holds else { return "The program allows no changes: inspect(on:allowsChanges:)." }
        do {
            let action = try JSONValue(parsing: action)
            switch action["action"]?.string {
            case "setRules":
                holds.set((action["rules"]?.array ?? []).compactMap { HoldRule($0) })
                send([rulesMessage])
            case "releaseAll": holds.releaseAll()
            case let name?: try decide(name, action, holds)
            case nil: return "The action has no name."
            }
            return nil
        } catch let error as EditError {
            return error.reason
        } catch {
            return "\(error)"
        }
    }

    private func decide(_ name: String, _ action: JSONValue, _ holds: HoldRecorder) throws(EditError) {
        guard let number = action["id"]?.string.flatMap({ Int($0) }), let held = holds.held(number) else {
            throw EditError("the load is no longer held")
        }
        switch name {
        case "release":
            let change = held.response == nil ? action["request"] : action["response"]
            let edited = try change.map { change throws(EditError) in
                try (held.response ?? held.request).edited(change)
            }
            held.decide(.proceed(edited))
        case "answer" where held.response == nil:
            let blank = ShownMessage(
                line: .response(status: 200), fields: [], body: [], bodyNote: "", redactor: held.request.redactor)
            held.decide(.answer(try blank.edited(action["response"] ?? .null)))
        case "fail": held.decide(.fail)
        default: throw EditError("there is no action \(name)")
        }
    }
}
