/// The results of a codec for comparison: bytes of bodies that follow each other are joined.
struct BodyTranscript<Event: Equatable, Failure: Equatable>: Equatable {
    enum Entry: Equatable {
        case event(Event)
        case body([UInt8])
    }

    var entries: [Entry] = []
    var failure: Failure?

    mutating func append(_ event: Event) { entries.append(.event(event)) }

    mutating func append(body bytes: some Collection<UInt8>) {
        if bytes.isEmpty { return }
        if case .body(var before)? = entries.last {
            entries.removeLast()
            before.append(contentsOf: bytes)
            entries.append(.body(before))
        } else {
            entries.append(.body(Array(bytes)))
        }
    }
}
