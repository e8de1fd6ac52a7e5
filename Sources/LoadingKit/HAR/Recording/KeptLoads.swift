/// The entries of recorded loads, in the order in which the loads were started: the last ones, without the bodies and
/// messages of the earliest where there are too many bytes.
struct KeptLoads {
    private struct Load {
        let number: Int
        var entries: [HAREntry]
        /// The bytes of bodies and messages that were not released.
        var bytes: Int

        /// Returns the number of bytes that were released.
        mutating func omitBodies() -> Int {
            guard bytes > 0 else { return 0 }
            defer { bytes = 0 }
            for index in entries.indices { entries[index].omitBodies() }
            return bytes
        }
    }

    private let mostLoads: Int
    private let mostBytes: Int
    private var loads: [Load] = []
    private var bytes = 0
    /// The number of the first loads that have nothing to release.
    private var releasedLoads = 0

    init(mostLoads: Int, mostBytes: Int) { (self.mostLoads, self.mostBytes) = (mostLoads, mostBytes) }

    var entries: [HAREntry] { loads.flatMap(\.entries) }

    mutating func insert(_ entries: [HAREntry], number: Int) {
        let load = Load(number: number, entries: entries, bytes: entries.reduce(0) { $0 + $1.bodyBytes })
        // Most loads end in the order in which they began.
        let index = (loads.lastIndex { $0.number < number } ?? -1) + 1
        loads.insert(load, at: index)
        bytes += load.bytes
        releasedLoads = min(releasedLoads, index)
        removeFirst(loads.count - mostLoads)
        while bytes > mostBytes, releasedLoads < loads.count {
            let released = loads[releasedLoads].omitBodies()
            bytes -= released
            releasedLoads += 1
        }
    }

    private mutating func removeFirst(_ count: Int) {
        guard count > 0 else { return }
        bytes -= loads.prefix(count).reduce(0) { $0 + $1.bytes }
        loads.removeFirst(count)
        releasedLoads = max(releasedLoads - count, 0)
    }

    mutating func removeAll() { (loads, bytes, releasedLoads) = ([], 0, 0) }
}

extension HAREntry {
    private static let messages = "_webSocketMessages"
    /// The bytes that a message takes beside its content.
    private static let ownBytesOfMessage = 256

    /// The bytes that bodies and messages take.
    fileprivate var bodyBytes: Int {
        let form = (request.postData?.params ?? []).reduce(0) { sum, field in
            sum + field.name.utf8.count + (field.value?.utf8.count ?? 0)
        }
        let messages = (others[Self.messages]?.array ?? []).reduce(0) { sum, message in
            sum + (message["data"]?.string?.utf8.count ?? 0) + Self.ownBytesOfMessage
        }
        let bodies = (request.postData?.text.utf8.count ?? 0) + (response.content.text?.utf8.count ?? 0)
        return bodies + form + messages
    }

    /// Releases the bodies and messages. The entry is then like one whose bodies were not recorded.
    fileprivate mutating func omitBodies() {
        if var body = request.postData, !body.text.isEmpty || !body.params.isEmpty {
            (body.text, body.encoding, body.params) = ("", nil, [])
            body.comment = EntryMaker.comment(onBodyOf: request.bodySize)
            body.others["_omitted"] = true
            request.postData = body
        }
        if response.content.text?.isEmpty == false {
            (response.content.text, response.content.encoding) = (nil, nil)
            response.content.comment = EntryMaker.comment(onBodyOf: response.content.size)
        }
        if others[Self.messages]?.array?.isEmpty == false {
            others[Self.messages] = .array([])
            comment = "The messages were not recorded."
        }
    }
}
