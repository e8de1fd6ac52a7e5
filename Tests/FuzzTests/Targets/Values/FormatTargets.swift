import Foundation
import LoadingKitForms
@_spi(LoadingKitPlugins) import LoadingKitHAR
import LoadingKitPrimitives

@testable import LoadingKitCore
@testable import LoadingKitPersistence
@testable import LoadingKitTransfers

/// Files, rows of stores and messages between processes.
enum FormatTargets {
    static let all = [
        FuzzTarget("json", json), FuzzTarget("har", har), FuzzTarget("resume-data", resumeData),
        FuzzTarget("multipart", multipart), FuzzTarget("form", form), FuzzTarget("cache-row", cacheRow),
        FuzzTarget("credential-row", credentialRow), FuzzTarget("journal-row", journalRow),
        FuzzTarget("daemon-messages", daemonMessages),
    ]

    /// A value that is read is written, and read as the same.
    @Sendable private static func json(_ input: inout FuzzInput) throws {
        let bytes = input.rest()
        do {
            let value = try JSONValue(parsing: bytes)
            let text = value.text()
            try require(try JSONValue(parsing: text.utf8) == value, "\(value) is written as \(text)")
        } catch let error as JSONSyntaxError {
            try require(error.line > 0 && error.column > 0, "\(error)")
        }
    }

    @Sendable private static func har(_ input: inout FuzzInput) throws {
        let bytes = input.rest()
        let log: HARLog
        do throws(HARError) { log = try HARLog(data: Data(bytes)) } catch { return }
        let again = try HARLog(data: log.data)
        try require(again.data == log.data, "a recording is written differently after it was read")
        let redaction = HARRedaction.standard
        for entry in log.entries { _ = redaction.redact(url: entry.request.url) }
    }

    @Sendable private static func resumeData(_ input: inout FuzzInput) throws {
        let data = Data(input.rest())
        do { _ = try UploadResumeData(data) } catch is LoadFailure {}
        do {
            let resume = try ResumeData(data)
            guard let encoded = resume.encoded else { return }
            let again = try ResumeData(encoded)
            try requireEqual(again.encoded, encoded, "resume data, and the same after it was read again")
        } catch is LoadFailure {}
    }

    /// The first line is the type; the others are the body.
    @Sendable private static func multipart(_ input: inout FuzzInput) throws {
        let bytes = input.rest()
        let type = bytes.prefix { $0 != 0x0A }
        let body = Array(bytes.dropFirst(type.count + 1))
        let text = String(decoding: type, as: UTF8.self)
        if let form = LoadingKitHAR.MultipartBody(body, contentType: text) {
            for part in form.parts {
                try require(0 <= part.content.lowerBound && part.content.upperBound <= body.count, "a part is outside")
                _ = form.text(of: part)
            }
        }
        let redacted = HARRedaction.standard.redact(body: Data(body), contentType: text)
        try require(redacted.count <= 20 * body.count + 1000, "\(body.count) bytes became \(redacted.count)")
    }

    @Sendable private static func form(_ input: inout FuzzInput) throws {
        let form = FormURLEncoded(parsing: Data(input.rest()))
        let again = FormURLEncoded(parsing: form.encoded)
        try require(again == form, "\(form.encoded) is read as \(again.encoded)")
    }

    @Sendable private static func cacheRow(_ input: inout FuzzInput) throws {
        guard let url = URL(string: "https://a/b") else { return }
        let key = CacheKey(method: "GET", url: url)
        guard let entry = CacheEntry(head: Data(input.rest()), data: Data(), under: key) else { return }
        guard let bytes = entry.headBytes(under: key) else { return }
        try require(CacheEntry(head: bytes, data: Data(), under: key) != nil, "a row that was written is not read")
    }

    @Sendable private static func credentialRow(_ input: inout FuzzInput) throws {
        guard let credential = StoredCredential(Data(input.rest()), isDefault: false) else { return }
        guard let bytes = credential.bytes else { return }
        let again = StoredCredential(bytes, isDefault: false)
        try require(again?.bytes == bytes, "a row that was written is not read")
    }

    @Sendable private static func journalRow(_ input: inout FuzzInput) throws {
        let data = Data(input.rest())
        let decoder = JSONDecoder()
        try rewrite(try? decoder.decode(TransferRecord.self, from: data))
        try rewrite(try? decoder.decode(TransferStatus.self, from: data))
        try rewrite(try? decoder.decode(JournaledSession.self, from: data))
    }

    private static func rewrite<Row: Codable>(_ row: Row?) throws {
        guard let row else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let bytes = try encoder.encode(row)
        let again = try encoder.encode(JSONDecoder().decode(Row.self, from: bytes))
        try requireEqual(again, bytes, "a row, and the same row after it was read")
    }

    /// Messages with right lengths, or bytes as they are.
    @Sendable private static func daemonMessages(_ input: inout FuzzInput) throws {
        let choices = input.byte()
        let cuts = input.cuts()
        let bytes = choices & 1 == 0 ? try messages(&input) : input.rest()
        let whole = received([bytes])
        let divided = received(cuts.pieces(of: bytes))
        try requireEqual(whole, divided, "messages of all bytes and of pieces")
    }

    /// Each line is a payload.
    private static func messages(_ input: inout FuzzInput) throws -> [UInt8] {
        let lines = input.rest().split(separator: 0x0A)
        return try lines.flatMap { line in
            try MessageFrame(payload: line.dropFirst(), descriptorCount: Int((line.first ?? 0) & 1)).bytes
        }
    }

    private static func received(_ pieces: [[UInt8]]) -> [String] {
        var reader = MessageReader()
        var results: [String] = []
        var failure: WireError?
        for piece in pieces {
            let (messages, error) = piece.withUnsafeBytes { reader.receive($0) }
            results += messages.map { "\($0.descriptorCount) \($0.message)" }
            failure = error
            if error != nil { break }
        }
        return results + [failure.map { "\($0)" } ?? "no error"]
    }
}
