import LoadingKitHTTP1

/// How the tests feed bytes to the parsers.
protocol TestableParser {
    mutating func step(_ input: UnsafeRawBufferPointer, _ position: inout Int) throws(HTTP1Error) -> Step?
    mutating func stepAtClose() throws(HTTP1Error) -> Step?
}

/// An event of any parser.
enum Step {
    case entry(Transcript.Entry)
    case body(Range<Int>)
}

extension ResponseParser: TestableParser {
    mutating func step(_ input: UnsafeRawBufferPointer, _ position: inout Int) throws(HTTP1Error) -> Step? {
        try next(input, &position).map(Step.init)
    }
    mutating func stepAtClose() throws(HTTP1Error) -> Step? { try finish().map(Step.init) }
}

extension ClientConnection: TestableParser {
    mutating func step(_ input: UnsafeRawBufferPointer, _ position: inout Int) throws(HTTP1Error) -> Step? {
        try next(input, &position).map(Step.init)
    }
    mutating func stepAtClose() throws(HTTP1Error) -> Step? { try finish().map(Step.init) }
}

extension RequestParser: TestableParser {
    mutating func step(_ input: UnsafeRawBufferPointer, _ position: inout Int) throws(HTTP1Error) -> Step? {
        try next(input, &position).map(Step.init)
    }
    mutating func stepAtClose() throws(HTTP1Error) -> Step? { try finish().map(Step.init) }
}

extension Step {
    init(_ event: ResponseParser.Event) {
        switch event {
        case .interim(let head): self = .entry(.interim(head))
        case .head(let head, let framing): self = .entry(.response(head, framing))
        case .body(let range): self = .body(range)
        case .trailers(let fields): self = .entry(.trailers(fields))
        case .end: self = .entry(.end)
        }
    }

    init(_ event: RequestParser.Event) {
        switch event {
        case .head(let head, let framing): self = .entry(.request(head, framing))
        case .body(let range): self = .body(range)
        case .trailers(let fields): self = .entry(.trailers(fields))
        case .end: self = .entry(.end)
        }
    }
}

extension Transcript {
    /// Feeds `input`, divided at `cuts`, to `parser`; then closes the connection if `isClosed`.
    ///
    /// Each piece is put into memory of its own whose last byte is followed by none that may be read.
    init(_ parser: some TestableParser, _ input: [UInt8], cuts: [Int] = [], isClosed: Bool = false) {
        var parser = parser
        var start = 0
        for cut in cuts + [input.count] {
            guard error == nil else { return }
            read(&parser, input[start..<cut])
            start = cut
        }
        if isClosed, error == nil { close(&parser) }
    }

    private mutating func read(_ parser: inout some TestableParser, _ piece: ArraySlice<UInt8>) {
        GuardedMemory.withBytes(piece) { bytes in
            var position = 0
            do throws(HTTP1Error) {
                while let step = try parser.step(bytes, &position) { append(step, bytes) }
            } catch {
                self.error = error
            }
            consumed = error == nil ? consumed + position : 0
        }
    }

    private mutating func append(_ step: Step, _ bytes: UnsafeRawBufferPointer) {
        switch step {
        case .entry(let entry): entries.append(entry)
        case .body(let range): append(body: Array(bytes[range]))
        }
    }

    private mutating func close(_ parser: inout some TestableParser) {
        do throws(HTTP1Error) {
            if let step = try parser.stepAtClose() { append(step, UnsafeRawBufferPointer(start: nil, count: 0)) }
        } catch {
            self.error = error
        }
    }
}
