import Foundation
import LoadingKit
import LoadingKitTesting
import TestSupport

/// Loads that ask the program, send a body, fail, or are loaded in parts.
extension Breach {
    static let questions: [Breach] = redirects + challenges + uploads + failures

    private static let redirects: [Breach] = [
        .load("loads the target itself", 15, "redirect's own", [.redirect(.a)]) { try await Right.load($0) },
        .load("redirects to itself", 15, "failed", [.redirect(.a)]) { load in
            try await load.redirect(to: load.request, response: Right.response(load, 302))
        },
        .load("fails instead of redirecting", 15, "failed", [.redirect(.a)]) { _ in throw URLError(.badURL) },
        .load("redirects with a response of another URL", 15, "response of", [.redirect(.a)]) { load in
            if load.url == .b { return try await Right.load(load) }
            let response = URLResponse(url: .b, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
            try await load.redirect(to: URLRequest(url: .b), response: response)
        },
    ]

    private static func challenge(
        _ name: String, _ words: String, _ body: @escaping @Sendable (LoadContext) async throws -> Void
    ) -> Breach {
        .load(name, 16, words, [.challenge(.a, credential: Right.credential)], body)
    }

    private static let challenges: [Breach] = [
        challenge("asks twice", "asked 2 times") { load in
            _ = await Right.challenge(load)
            guard await Right.challenge(load, after: 1).credential?.user == "user" else {
                throw URLError(.userCancelledAuthentication)
            }
            try await Right.load(load)
        },
        challenge("loads after a refusal", "userCancelledAuthentication") { load in
            _ = await Right.challenge(load)
            try await Right.load(load)
        },
        challenge("takes any credential", "and no other") { load in
            guard await Right.challenge(load).credential != nil else {
                throw URLError(.userCancelledAuthentication)
            }
            try await Right.load(load)
        },
        challenge("loads where the space was rejected", "and no other") { load in
            let answer = await Right.challenge(load)
            guard answer.credential?.user == "user" || answer.disposition == .rejectProtectionSpace else {
                throw URLError(.userCancelledAuthentication)
            }
            try await Right.load(load)
        },
        challenge("asks until there is a credential", "for the same space") { load in
            for failures in 0..<100 {
                let answer = await Right.challenge(load, after: failures)
                if answer.credential?.user == "user" { return try await Right.load(load) }
                if answer.disposition == .cancelAuthenticationChallenge { break }
            }
            throw URLError(.userCancelledAuthentication)
        },
        challenge("another error where the program cancels", "userCancelledAuthentication") { load in
            guard await Right.challenge(load).credential?.user == "user" else { throw CocoaError(.userCancelled) }
            try await Right.load(load)
        },
    ]

    private static let uploads: [Breach] = [
        .load("reads httpBody", 17, "LoadContext.body", [Right.upload()]) { load in
            let count = load.request.httpBody?.count ?? 0
            load.report(progress: count)
            try await Right.respond(load, 201)
            try await load.receive(Data("\(count)".utf8))
        },
        .load("reads the body twice", 17, "failed", [Right.upload()]) { load in
            for try await _ in load.body {}
            try await Right.load(load)
        },
        .load("refuses streams", 17, "differs", [Right.upload()]) { load in
            guard load.request.httpBodyStream == nil else { return try await Right.respond(load, 411) }
            try await Right.load(load)
        },
        .load("reads no body", 18, "report(progress:)", [Right.upload()]) { try await Right.respond($0, 201) },
        .load("reports no progress", 18, "report(progress:)", [Right.upload()]) { load in
            for try await _ in load.body {}
            try await Right.respond(load, 201)
        },
        .load("counts twice", 18, "report(progress:)", [Right.upload()]) { load in
            for try await piece in load.body { load.report(progress: 2 * piece.count) }
            try await Right.respond(load, 201)
        },
        .load("stops after 64 KiB", 18, "report(progress:)", [Right.upload()]) { load in
            for try await piece in load.body {
                load.report(progress: min(65_536, piece.count))
                break
            }
            try await Right.respond(load, 201)
        },
    ]

    private static func failure(
        _ name: String, _ words: String, expecting error: (any Error)? = nil,
        _ body: @escaping @Sendable (LoadContext) async throws -> Void
    ) -> Breach {
        .load(name, 12, words, [.failure(.a, expecting: error)], body)
    }

    private static let failures: [Breach] = [
        failure("swallows an error in the body", "without an error") { load in
            try await Right.respond(load)
            do { throw CocoaError(.fileReadCorruptFile) } catch { try await load.receive(Right.whole.prefix(1000)) }
        },
        failure("an error becomes a status", "without an error") { try await Right.respond($0, 500) },
        failure("an error of another code", "instead of", expecting: CocoaError(.fileReadCorruptFile)) { _ in
            throw CocoaError(.fileReadUnknown)
        },
        failure("an error of another type", "instead of", expecting: CocoaError(.fileReadCorruptFile)) { _ in
            throw URLError(.cannotParseResponse)
        },
        failure("a CancellationError", "nobody cancelled") { _ in throw CancellationError() },
        failure("errors differ", "they differ") { load in
            throw URLError(load.task is URLSessionDownloadTask ? .badURL : .unknown)
        },
        failure("does not end", "did not end") { load in
            try await Right.respond(load)
            try await Task.sleep(for: .seconds(3600))
        }.limited(to: 0.5),
    ]
}
