import LoadingKitHPACK
import LoadingKitHTTP2

/// Both roles of a connection, each as the input's frames and local calls reach it.
enum HTTP2Targets {
    static let all = [
        FuzzTarget("http2-client") { try frames(.client, &$0) },
        FuzzTarget("http2-server") { try frames(.server, &$0) },
        FuzzTarget("http2-bytes", bytes), FuzzTarget("http2-pair", HTTP2Pair.run),
    ]

    /// Frames with right lengths, mostly in states where they are allowed, with calls of the program between them.
    private static func frames(_ role: HTTP2Role, _ input: inout FuzzInput) throws {
        let choices = input.byte()
        let cuts = input.cuts()
        var whole = HTTP2Endpoint(role, choices)
        var divided = HTTP2Endpoint(role, choices)
        var script = HTTP2Script(role)
        var steps = 0
        while !input.isEmpty, steps < 300 {
            steps += 1
            if input.number(below: 4) == 0 {
                let call = HTTP2Call(&input)
                whole.perform(call)
                divided.perform(call)
            } else {
                let frame = script.frame(&input)
                whole.receive([frame])
                divided.receive(cuts.pieces(of: frame))
            }
            try requireEqual(whole.events, divided.events, "events of whole frames and of pieces, step \(steps)")
            try requireEqual(whole.failure, divided.failure, "errors of whole frames and of pieces, step \(steps)")
            try requireEqual(whole.output, divided.output, "bytes sent after whole frames and pieces, step \(steps)")
            try whole.check()
        }
    }

    /// Bytes of no order.
    @Sendable private static func bytes(_ input: inout FuzzInput) throws {
        let choices = input.byte()
        let cuts = input.cuts()
        let role = choices & 1 == 0 ? HTTP2Role.client : .server
        let bytes = input.rest()
        var whole = HTTP2Endpoint(role, choices, sendsPreface: false)
        var divided = HTTP2Endpoint(role, choices, sendsPreface: false)
        whole.receive([bytes])
        divided.receive(cuts.pieces(of: bytes))
        try requireEqual(whole.events, divided.events, "events of all bytes and of pieces")
        try requireEqual(whole.failure, divided.failure, "errors of all bytes and of pieces")
        try whole.check()
    }
}

/// A call of the program that owns a connection.
struct HTTP2Call {
    let number: Int
    let stream: HTTP2StreamID
    let count: Int
    let flag: Bool

    init(_ input: inout FuzzInput) {
        number = input.number(below: 14)
        stream = HTTP2StreamID(rawValue: UInt32(input.number(below: 8)))
        count = Int(input.word())
        flag = input.flag()
    }
}

/// Makes the frames of a peer, whose header blocks refer to one table.
struct HTTP2Script {
    private static let types: [UInt8] = [1, 1, 1, 0, 0, 0, 3, 4, 6, 7, 8, 8, 9, 2, 5, 11]

    private let role: HTTP2Role
    private var encoder = HPACKEncoder()

    init(_ role: HTTP2Role) { self.role = role }

    mutating func frame(_ input: inout FuzzInput) -> [UInt8] {
        let type = Self.types[input.number(below: Self.types.count)]
        let flags = input.byte()
        let stream = UInt32(input.number(below: 12))
        switch type {
        case 0:
            return Self.frame(
                0, flags & 0x09, stream, payload(padded: flags & 8 != 0, input.take(input.number(below: 64))))
        case 1: return headers(flags, stream, &input)
        case 3: return Self.frame(3, flags, stream, Self.bytes(input.word() % 15))
        case 4:
            let settings = (0..<(flags & 1 == 1 ? 0 : input.number(below: 4))).flatMap { _ -> [UInt8] in
                [0, UInt8(input.number(below: 10))] + Self.bytes(input.word())
            }
            return Self.frame(4, flags & 1, 0, settings)
        case 6: return Self.frame(6, flags & 1, 0, [0, 0, 0, 0] + Self.bytes(input.word()))
        case 7:
            return Self.frame(
                7, flags, 0, Self.bytes(stream) + Self.bytes(input.word() % 15) + input.take(flags & 7 == 0 ? 20 : 0))
        case 8: return Self.frame(8, flags, flags & 1 == 1 ? 0 : stream, Self.bytes(input.word()))
        case 9: return Self.frame(9, flags & 4, stream, input.take(input.number(below: 20)))
        case 2: return Self.frame(2, flags, stream, Self.bytes(input.word()) + [flags])
        case 5: return Self.frame(5, flags, stream, input.take(input.number(below: 20)))
        default: return Self.frame(type, flags, stream, input.take(input.number(below: 20)))
        }
    }

    private mutating func headers(_ flags: UInt8, _ stream: UInt32, _ input: inout FuzzInput) -> [UInt8] {
        var block: [UInt8] = []
        let kind = input.number(below: 8)
        if kind == 7 {
            block = input.take(input.number(below: 64))
        } else {
            encoder.encode(pseudoFields(kind, &input), fields(&input), into: &block)
        }
        // END_HEADERS, for most frames; END_STREAM; rarely the fields of PRIORITY.
        let isPadded = flags & 0x18 == 0x18
        let hasPriority = flags & 0x60 == 0x60
        let priority: [UInt8] = hasPriority ? [0, 0, 0, 0, 1] : []
        let type: UInt8 = flags & 0xe0 == 0x80 ? 0 : 4
        let wire = flags & 1 | type | (isPadded ? 8 : 0) | (hasPriority ? 0x20 : 0)
        return Self.frame(1, wire, stream, payload(padded: isPadded, priority + block))
    }

    private func pseudoFields(_ kind: Int, _ input: inout FuzzInput) -> HPACKPseudoFields {
        switch (kind, role) {
        case (0, _): .none
        case (1, _): .connect(authority: "a:1")
        case (_, .server):
            .request(
                method: ["GET", "POST", "HEAD", "CONNECT"][kind & 3], scheme: "https", authority: "a", path: "/",
                protocol: kind == 6 ? "websocket" : nil)
        case (_, .client): .response(status: [200, 100, 204, 304, 103, 404, 101][input.number(below: 7)])
        }
    }

    private func fields(_ input: inout FuzzInput) -> HTTPFields {
        var fields = HTTPFields()
        for _ in 0..<input.number(below: 4) {
            switch input.number(below: 6) {
            case 0: fields.append(.contentLength, "\(input.number(below: 40))")
            case 1: fields.append(name: "cookie", value: "a=\(input.byte())")
            case 2: fields.append(name: "connection", value: "close")
            case 3: fields.append(name: "te", value: "trailers")
            case 4: fields.append(name: "x", value: String(repeating: "v", count: Int(input.byte())))
            default: fields.append(name: "x-\(input.number(below: 4))", value: "\(input.byte())")
            }
        }
        return fields
    }

    private func payload(padded: Bool, _ bytes: [UInt8]) -> [UInt8] {
        padded ? [UInt8(bytes.count & 7)] + bytes + [UInt8](repeating: 0, count: bytes.count & 7) : bytes
    }

    private static func bytes(_ word: UInt32) -> [UInt8] { withUnsafeBytes(of: word.bigEndian) { Array($0) } }

    private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        Array(bytes(UInt32(payload.count)).dropFirst()) + [type, flags] + bytes(stream) + payload
    }
}
