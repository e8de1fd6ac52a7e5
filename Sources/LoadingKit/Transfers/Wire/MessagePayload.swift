import Foundation
import LoadingKitCore

/// The payloads of messages, which are JSON. Keys that a reader does not know are passed over.
enum MessagePayload {
    struct Numbered<Content: Codable>: Codable {
        var number: UInt64
        /// Nil where it is of a later version.
        var content: Content?
        var session: String?
        var error: TransferError?

        init(_ number: UInt64, _ content: Content? = nil, session: String? = nil, error: TransferError? = nil) {
            self.number = number
            self.content = content
            self.session = session
            self.error = error
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            number = try values.decode(UInt64.self, forKey: .number)
            content = try? values.decodeIfPresent(Content.self, forKey: .content)
            session = try values.decodeIfPresent(String.self, forKey: .session)
            error = try values.decodeIfPresent(TransferError.self, forKey: .error)
        }
    }

    /// For messages without content.
    struct Nothing: Codable {}

    static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        // The same message has the same bytes.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }

    static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }

    static func encode(_ message: TransferMessage) throws -> Data {
        let encoder = encoder()
        switch message {
        case .hello(let hello): return try encoder.encode(hello)
        case .goodbye(let goodbye): return try encoder.encode(goodbye)
        case .attach(let session): return try encoder.encode(session)
        case .command(let number, let command): return try encoder.encode(Numbered(number, command))
        case .overviewRequest(let number), .overviewEnd(let number):
            return try encoder.encode(Numbered<Nothing>(number))
        case .control(let number, let session, let command):
            return try encoder.encode(Numbered(number, command, session: session))
        case .performed(let number, let error): return try encoder.encode(Numbered<Nothing>(number, error: error))
        case .event(let event): return try encoder.encode(event)
        case .snapshots(let snapshots): return try encoder.encode(snapshots)
        case .overview(let number, let sessions): return try encoder.encode(Numbered(number, sessions))
        }
    }

    static func decode(_ payload: Data, kind: UInt16) throws(WireError) -> ReceivedMessage {
        guard let known = MessageKind(rawValue: kind) else {
            let number = (try? decoder().decode(Numbered<Nothing>.self, from: payload))?.number
            return .unknown(kind: kind, number: number)
        }
        do {
            return try decode(payload, known)
        } catch {
            throw .malformed(kind: kind)
        }
    }

    private static func decode(_ payload: Data, _ kind: MessageKind) throws -> ReceivedMessage {
        let decoder = decoder()
        switch kind {
        case .hello: return .message(.hello(try decoder.decode(TransferMessage.Hello.self, from: payload)))
        case .goodbye: return .message(.goodbye(try decoder.decode(TransferMessage.Goodbye.self, from: payload)))
        case .attach: return .message(.attach(try decoder.decode(SessionDescription.self, from: payload)))
        case .command:
            let command = try decoder.decode(Numbered<TransferCommand>.self, from: payload)
            guard let content = command.content else { return .unknown(kind: kind.rawValue, number: command.number) }
            return .message(.command(number: command.number, content))
        case .overviewRequest:
            return .message(.overviewRequest(number: try decoder.decode(Numbered<Nothing>.self, from: payload).number))
        case .control:
            let command = try decoder.decode(Numbered<TransferCommand>.self, from: payload)
            guard let content = command.content, let session = command.session else {
                return .unknown(kind: kind.rawValue, number: command.number)
            }
            return .message(.control(number: command.number, session: session, content))
        case .performed:
            let answer = try decoder.decode(Numbered<Nothing>.self, from: payload)
            return .message(.performed(number: answer.number, error: answer.error))
        case .event:
            guard let event = try? decoder.decode(TransferEvent.self, from: payload) else {
                // A later version's event; or no JSON at all.
                _ = try decoder.decode(Nothing.self, from: payload)
                return .unknown(kind: kind.rawValue, number: nil)
            }
            return .message(.event(event))
        case .snapshots: return .message(.snapshots(try decoder.decode([TransferRecord].self, from: payload)))
        case .overview:
            let answer = try decoder.decode(Numbered<[SessionOverview]>.self, from: payload)
            return .message(.overview(number: answer.number, answer.content ?? []))
        case .overviewEnd:
            return .message(.overviewEnd(number: try decoder.decode(Numbered<Nothing>.self, from: payload).number))
        }
    }
}
