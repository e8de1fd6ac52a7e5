import LoadingKitHTTP1

/// Reads the same requests again and again, as they come on a connection that is kept open.
final class RequestReader {
    private let transmission: Transmission
    private var parser = RequestParser()

    init(_ transmission: Transmission) { self.transmission = transmission }

    /// The fields of all heads.
    func fields() throws -> Int { try Self.fields(transmission, with: &parser) }

    private static func fields(_ transmission: Transmission, with parser: inout RequestParser) throws -> Int {
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
