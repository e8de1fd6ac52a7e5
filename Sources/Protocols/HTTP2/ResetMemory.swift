/// The streams that were reset lately, so that frames which were on their way are told from errors (RFC 9113 §5.1).
///
/// What is beyond the memory is remembered as one number: streams up to it may have been reset, and are treated so.
struct ResetMemory {
    /// Who reset a stream.
    enum Origin {
        /// This side: frames that come are ignored, as the peer may not know yet.
        case local
        /// The peer, which may send nothing more.
        case peer
    }

    private struct Entry {
        var id: UInt32
        var origin: Origin
    }

    private let capacity: Int
    private var entries: [Entry] = []
    private var oldest = 0
    /// The highest number that was forgotten.
    private var forgotten: UInt32 = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    mutating func add(_ id: HTTP2StreamID, _ origin: Origin) {
        let entry = Entry(id: id.rawValue, origin: origin)
        if entries.count < capacity { return entries.append(entry) }
        if entries[oldest].origin == .local { forgotten = max(forgotten, entries[oldest].id) }
        entries[oldest] = entry
        oldest = (oldest + 1) % capacity
    }

    /// Who reset a stream that is closed; nil when it ended by itself.
    func origin(of id: HTTP2StreamID) -> Origin? {
        if let entry = entries.last(where: { $0.id == id.rawValue }) { return entry.origin }
        return id.rawValue <= forgotten ? .local : nil
    }
}
