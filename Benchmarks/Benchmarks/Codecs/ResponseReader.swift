import LoadingKitHTTP1

/// Reads the same responses again and again, as they come on a connection that is kept open.
final class ResponseReader {
    private let transmission: Transmission
    private var parser = ResponseParser()

    /// With `method` HEAD, of heads alone.
    init(_ transmission: Transmission, method: String) {
        self.transmission = transmission
        parser.expect(method: method)
    }

    /// The fields of all heads.
    func fields() throws -> Int { try Self.fields(transmission, with: &parser) }

    /// With the parser as `inout`, so that it is asked for once, and not with each event, whether it is in use.
    private static func fields(_ transmission: Transmission, with parser: inout ResponseParser) throws -> Int {
        var sum = 0
        try transmission.forEachPiece { piece in
            var position = 0
            while let event = try parser.next(piece, &position) {
                if case .head(let head, _) = event { sum &+= head.fields.count }
            }
        }
        return sum
    }
}
