import Foundation
import LoadingKitFTP
import LoadingKitPrimitives

@testable import LoadingKitArchives
@testable import LoadingKitCore
@testable import LoadingKitEvents
@testable import LoadingKitS3

/// Readers of texts and files that arrive in pieces.
enum LineTargets {
    static let all = [
        FuzzTarget("server-sent-events", events), FuzzTarget("json-records", records), FuzzTarget("lines", lines),
        FuzzTarget("mixed-replace", mixedReplace), FuzzTarget("ftp-replies", ftpReplies),
        FuzzTarget("ftp-listing", ftpListing), FuzzTarget("ftp-session", ftpSession),
    ]

    @Sendable private static func events(_ input: inout FuzzInput) throws {
        let cuts = input.cuts()
        let bytes = input.rest()
        func read(_ pieces: [[UInt8]]) -> ([ServerSentEvent], EventStreamParseError?) {
            var parser = EventStreamParser()
            var events: [ServerSentEvent] = []
            do throws(EventStreamParseError) {
                for piece in pieces { try parser.receive(Data(piece), into: &events) }
            } catch {
                return (events, error)
            }
            return (events, nil)
        }
        try require(read([bytes]) == read(cuts.pieces(of: bytes)), "whole and in pieces differ")
    }

    @Sendable private static func records(_ input: inout FuzzInput) throws {
        let framing = input.flag() ? JSONRecordFraming.lines : .sequence
        try compare(&input) { RecordSplitter(framing, limit: 100) }
    }

    @Sendable private static func lines(_ input: inout FuzzInput) throws {
        let keepsEmpty = input.flag()
        try compare(&input) { LineSplitter(limit: 100, keepsEmpty: keepsEmpty) }
    }

    private static func compare<Kind: Splitter>(_ input: inout FuzzInput, _ make: () -> Kind) throws {
        let cuts = input.cuts()
        let bytes = input.rest()
        func read(_ pieces: [[UInt8]]) -> [String] {
            var splitter = make()
            var elements: [Kind.Element] = []
            var end = "end"
            do {
                for piece in pieces { try splitter.receive(Data(piece), into: &elements) }
                if let last = try splitter.finish() { elements.append(last) }
            } catch {
                end = "\(error)"
            }
            return elements.map { "\($0)" } + [end]
        }
        try requireEqual(read([bytes]), read(cuts.pieces(of: bytes)), "whole and in pieces")
    }

    @Sendable private static func mixedReplace(_ input: inout FuzzInput) throws {
        let boundary = String(decoding: input.take(input.number(below: 8)), as: UTF8.self)
        let cuts = input.cuts()
        let bytes = input.rest()
        func read(_ pieces: [[UInt8]]) throws -> BodyTranscript<MixedReplaceReader.Event, String>? {
            guard var reader = MixedReplaceReader("multipart/x-mixed-replace; boundary=\"\(boundary)\"") else {
                return nil
            }
            var transcript = BodyTranscript<MixedReplaceReader.Event, String>()
            do {
                for piece in pieces {
                    piece.withUnsafeBytes { reader.append($0) }
                    try drain(&reader, &transcript)
                }
                reader.finish()
                try drain(&reader, &transcript)
            } catch let error as LoadFailure {
                transcript.failure = "\(error)"
            }
            try require(reader.scannedBytes <= bytes.count, "bytes are scanned twice")
            return transcript
        }
        try require(try read([bytes]) == read(cuts.pieces(of: bytes)), "whole and in pieces differ")
    }

    private static func drain(
        _ reader: inout MixedReplaceReader, _ transcript: inout BodyTranscript<MixedReplaceReader.Event, String>
    ) throws {
        while let event = try reader.next() {
            if case .data(let data) = event { transcript.append(body: data) } else { transcript.append(event) }
        }
    }

    private static func replies(_ pieces: [[UInt8]]) -> ([FTPReply], FTPError?) {
        var parser = FTPReplyParser()
        var replies: [FTPReply] = []
        for piece in pieces {
            do throws(FTPError) {
                replies += try piece.withBytes { (bytes) throws(FTPError) in try parser.receive(bytes) }
            } catch {
                return (replies, error)
            }
            if let failure = parser.failure { return (replies, failure) }
        }
        return (replies, nil)
    }

    @Sendable private static func ftpReplies(_ input: inout FuzzInput) throws {
        let cuts = input.cuts()
        let bytes = input.rest()
        let (whole, failure) = replies([bytes])
        let (divided, second) = replies(cuts.pieces(of: bytes))
        try requireEqual(whole.map { "\($0)" }, divided.map { "\($0)" }, "whole and in pieces")
        try requireEqual(failure.map { "\($0)" }, second.map { "\($0)" }, "errors")
        for reply in whole {
            _ = (reply.extendedPassivePort, reply.passivePort, reply.size, reply.modificationTime)
            _ = (reply.quotedPath, reply.announcedSize, reply.summary, FTPFeatures(reply))
        }
    }

    @Sendable private static func ftpListing(_ input: inout FuzzInput) throws {
        let format = input.flag() ? FTPListingParser.Format.mlsd : .list(now: 1_700_000_000)
        let cuts = input.cuts()
        let bytes = input.rest()
        func read(_ pieces: [[UInt8]]) -> (entries: [FTPEntry], unreadable: Int, failure: FTPError?) {
            var parser = FTPListingParser(format: format)
            var entries: [FTPEntry] = []
            do throws(FTPError) {
                for piece in pieces { entries += try parser.receive(piece) }
                entries += try parser.finish()
            } catch {
                return (entries, parser.unreadableLineCount, error)
            }
            return (entries, parser.unreadableLineCount, nil)
        }
        let (whole, divided) = (read([bytes]), read(cuts.pieces(of: bytes)))
        try requireEqual(whole.entries, divided.entries, "entries of the whole and of pieces")
        try requireEqual(whole.unreadable, divided.unreadable, "unreadable lines of the whole and of pieces")
        try require(whole.failure == divided.failure, "errors of the whole and of pieces differ")
    }

    /// A client with the replies of a server and the calls of its owner, in any order.
    @Sendable private static func ftpSession(_ input: inout FuzzInput) throws {
        let choices = input.byte()
        let securities: [FTPClientStateMachine.Security] = [.none, .explicit, .implicit]
        var machine = FTPClientStateMachine(
            security: securities[Int(choices & 3) % 3], allowsPlainPassive: choices & 4 != 0)
        let operations: [FTPTransfer.Operation] = [.retrieve, .list, .store]
        let path = try FTPPath("/a/b%20c.txt")
        while !input.isEmpty {
            switch input.number(below: 10) {
            case 0: _ = machine.tlsDidStart()
            case 1: _ = try? machine.logIn(user: [0x61], password: input.flag() ? nil : [0x62])
            case 2:
                _ = machine.begin(
                    FTPTransfer(
                        operations[input.number(below: operations.count)], path, stepsThroughFolders: input.flag(),
                        makesFolders: input.flag()))
            case 3: _ = machine.proceed(from: Int64(input.word()))
            case 4: _ = machine.dataDidOpen()
            case 5: _ = machine.dataDidFail()
            case 6: _ = machine.dataDidEnd()
            default:
                let code = [220, 331, 230, 211, 227, 229, 150, 226, 213, 250, 350, 500, 550, 421, 234, 200][
                    input.number(below: 16)]
                let line = input.take(input.number(below: 40))
                do throws(FTPError) { _ = try machine.receive(FTPReply(code: code, lines: [line])) } catch {}
            }
        }
    }
}
