import CPeers
import LoadingKitHTTP1

/// First messages that LoadingKit and llhttp read.
enum LLHTTPComparison {
    static let all = [FuzzTarget("llhttp-response", response), FuzzTarget("llhttp-request", request)]

    private struct Message: Equatable {
        /// The status, or the target.
        var subject: String
        /// Names, in lower case, and values in turn.
        var fields: [[UInt8]]
        var body: [UInt8]
        var isComplete: Bool
    }

    private struct Verdict {
        var message: Message?
        var failure: String?
        /// LoadingKit's own error, for the differences.
        var kind: HTTP1Error.Kind?
    }

    @Sendable private static func response(_ input: inout FuzzInput) throws {
        // The inputs are those of the parsers' own targets, which choose limits and pieces by the first bytes.
        _ = input.take(3)
        let bytes = input.rest()
        var parser = ResponseParser()
        var verdict = Verdict()
        bytes.withUnsafeBytes { input in
            var position = 0
            do throws(HTTP1Error) {
                while verdict.message?.isComplete != true {
                    var next = try parser.next(input, &position)
                    if next == nil { next = try parser.finish() }
                    guard let event = next else { break }
                    switch event {
                    case .interim(let head), .head(let head, _):
                        verdict.message = Message(
                            subject: "\(head.status)", fields: texts(head.fields), body: [], isComplete: false)
                        // llhttp takes an interim response as a message without a body.
                        if head.status < 200 { verdict.message?.isComplete = true }
                    case .body(let range): verdict.message?.body += input[range]
                    case .trailers: break
                    case .end: verdict.message?.isComplete = true
                    }
                }
            } catch {
                (verdict.failure, verdict.kind) = ("\(error)", error.kind)
            }
        }
        try compare(verdict, bytes, isRequest: false)
    }

    @Sendable private static func request(_ input: inout FuzzInput) throws {
        // The inputs are those of the parsers' own targets, which choose limits and pieces by the first bytes.
        _ = input.take(3)
        let bytes = input.rest()
        var parser = RequestParser()
        var verdict = Verdict()
        bytes.withUnsafeBytes { input in
            var position = 0
            do throws(HTTP1Error) {
                while verdict.message?.isComplete != true {
                    var next = try parser.next(input, &position)
                    if next == nil { next = try parser.finish() }
                    guard let event = next else { break }
                    switch event {
                    case .head(let head, _):
                        verdict.message = Message(
                            subject: head.target, fields: texts(head.fields), body: [], isComplete: false)
                    case .body(let range): verdict.message?.body += input[range]
                    case .trailers: break
                    case .end: verdict.message?.isComplete = true
                    }
                }
            } catch {
                (verdict.failure, verdict.kind) = ("\(error)", error.kind)
            }
        }
        try compare(verdict, bytes, isRequest: true)
    }

    private static func compare(_ own: Verdict, _ bytes: [UInt8], isRequest: Bool) throws {
        var peer = peer_message()
        peer_llhttp(bytes, bytes.count, isRequest ? 1 : 0, &peer)
        let (fields, target, body) = (peer.fields.take(), peer.target.take(), peer.body.take())
        guard peer.is_complete != 0, let message = own.message, message.isComplete else {
            // One refuses what the other accepts: its rules are stricter, and neither is read as another message.
            return
        }
        let other = Message(
            subject: isRequest ? String(decoding: target, as: UTF8.self) : "\(peer.status)",
            fields: texts(fields), body: !isRequest && isBodiless(peer.status) ? [] : body, isComplete: true)
        if LLHTTPDifference.allCases.contains(where: { $0.applies(bytes) }) { return }
        try requireEqual(message, other, "LoadingKit and llhttp read different messages")
    }

    /// Whether responses with a status have no body, whatever their fields say (RFC 9112 §6.3, case 1). llhttp reads one where
    /// they have Transfer-Encoding, or a length.
    private static func isBodiless(_ status: Int32) -> Bool { status < 200 || status == 204 || status == 304 }

    private static func texts(_ fields: HTTPFields) -> [[UInt8]] {
        fields.indices.flatMap { index in
            fields.withBytes(at: index) { name, value, _ in [lowercased(Array(name)), Array(value)] }
        }
    }

    /// llhttp's names and values, each of which ends with LF. It leaves white space behind values, and in responses behind
    /// names, which LoadingKit removes (RFC 9112 §5.1).
    private static func texts(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().enumerated().map { index, text in
            let end = text.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { $0 + 1 } ?? text.startIndex
            return index.isMultiple(of: 2) ? lowercased(Array(text[..<end])) : Array(text[..<end])
        }
    }

    private static func lowercased(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }
}

/// The rules in which LoadingKit and llhttp differ on purpose.
enum LLHTTPDifference: CaseIterable {
    /// A field that continues on the next line has spaces in place of the line's end (RFC 9112 §5.2); llhttp joins the
    /// lines without them.
    case foldedLine

    func applies(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .foldedLine: zip(bytes, bytes.dropFirst()).contains { $0 == 0x0A && ($1 == 0x20 || $1 == 0x09) }
        }
    }
}
