import LoadingKitHTTP1

/// What a parser gave for some input, in a form that does not depend on how the input was divided: the ranges of the
/// body that follow each other are their bytes, together.
struct Transcript: Equatable, CustomStringConvertible {
    enum Entry: Equatable {
        case interim(ResponseHead)
        case response(ResponseHead, BodyFraming)
        case request(RequestHead, BodyFraming)
        case body([UInt8])
        case trailers(HTTPFields)
        case end
    }

    var entries: [Entry] = []
    var error: HTTP1Error?
    /// Bytes that were read; the others were left alone. 0 after an error, when it means nothing.
    var consumed = 0

    var body: [UInt8] {
        entries.flatMap { entry -> [UInt8] in
            if case .body(let bytes) = entry { bytes } else { [] }
        }
    }

    var responses: [ResponseHead] {
        entries.compactMap { entry in
            switch entry {
            case .interim(let head), .response(let head, _): head
            case .request, .body, .trailers, .end: nil
            }
        }
    }

    var requests: [RequestHead] {
        entries.compactMap { if case .request(let head, _) = $0 { head } else { nil } }
    }

    var framings: [BodyFraming] {
        entries.compactMap { entry in
            switch entry {
            case .response(_, let framing), .request(_, let framing): framing
            case .interim, .body, .trailers, .end: nil
            }
        }
    }

    var trailers: [HTTPFields] {
        entries.compactMap { if case .trailers(let fields) = $0 { fields } else { nil } }
    }

    var ends: Int { entries.count { $0 == .end } }

    mutating func append(body bytes: [UInt8]) {
        if case .body(let before)? = entries.last {
            entries[entries.count - 1] = .body(before + bytes)
        } else if !bytes.isEmpty {
            entries.append(.body(bytes))
        }
    }

    var description: String {
        let lines = entries.map { entry -> String in
            switch entry {
            case .interim(let head): "interim \(head.status)"
            case .response(let head, let framing):
                "response \(head.status) \(head.fields.map { "\($0.name)=\($0.value)" }) \(framing)"
            case .request(let head, let framing): "request \(head.method) \(head.target) \(framing)"
            case .body(let bytes):
                "body \(bytes.count): \(String(decoding: bytes.prefix(40), as: UTF8.self).debugDescription)"
            case .trailers(let fields): "trailers \(fields.count)"
            case .end: "end"
            }
        }
        return (lines + [error.map { "error \($0)" } ?? "", "consumed \(consumed)"]).joined(separator: "; ")
    }
}
