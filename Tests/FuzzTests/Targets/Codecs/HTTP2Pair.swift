import LoadingKitHTTP2

/// A client and a server that do what programs ask them to, and the bytes between them, which arrive in pieces: neither
/// finds a fault with the other, and each receives a beginning of what the other has sent.
struct HTTP2Pair {
    private var ends: [HTTP2Endpoint]
    /// The bytes on their way to each end.
    private var wires: [[UInt8]] = [[], []]

    @Sendable static func run(_ input: inout FuzzInput) throws {
        var pair = HTTP2Pair(input.byte(), input.byte())
        var steps = 0
        while !input.isEmpty, steps < 300 {
            steps += 1
            try pair.step(&input)
        }
        try pair.deliverAll()
    }

    private init(_ client: UInt8, _ server: UInt8) {
        ends = [
            HTTP2Endpoint(.client, client & 0x1e, sendsPreface: false),
            HTTP2Endpoint(.server, server & 0x1e, sendsPreface: false),
        ]
    }

    private mutating func step(_ input: inout FuzzInput) throws {
        let side = input.number(below: 2)
        if input.flag() {
            // Resets and settings of any number are as allowed as all else; windows beyond the bounds are cut.
            ends[side].perform(HTTP2Call(&input))
        } else {
            try deliver(to: side, Int(input.byte()))
        }
    }

    private mutating func deliver(to side: Int, _ count: Int) throws {
        wires[side] += ends[1 - side].takeOutput()
        let piece = Array(wires[side].prefix(count))
        wires[side].removeFirst(piece.count)
        ends[side].receive([piece])
        if let failure = ends[side].failure { throw BrokenContract(description: "side \(side) finds \(failure)") }
    }

    private mutating func deliverAll() throws {
        for _ in 0..<100 {
            for side in 0...1 { try deliver(to: side, .max) }
        }
        for side in 0...1 {
            for event in ends[side].events {
                // A program may send more interim responses than the client takes.
                if case .streamFailed(let stream, let error) = event, error.kind != .tooManyInterimResponses {
                    throw BrokenContract(description: "side \(side) finds \(error) on stream \(stream)")
                }
            }
        }
    }
}
