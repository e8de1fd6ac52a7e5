import Foundation
import LoadingKit

/// Checks with loads that require an answer of the program, send a body, or fail.
extension ConformanceBench {
    private func outcome(
        _ rule: Int, _ check: String, _ request: URLRequest, _ observer: LoadObserver,
        _ makeTask: @escaping @Sendable (URLSession) -> URLSessionTask
    ) async -> LoadObserver.Outcome? {
        await withSession(check, request.url, delegate: observer) { session in
            await withTimeLimit(rule, check, request.url) { await observer.run(makeTask(session), in: session) }
        }
    }

    // MARK: Uploads

    func checkUpload(_ sample: ConformanceSample) async {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "conformance-\(UUID().uuidString)", isDirectory: true)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            return note(17, "body written to a file", sample.request.url, "the checks cannot make a folder: \(error)")
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        for count in [0, 1, 65_536, 1_000_000] {
            let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let file = folder.appendingPathComponent("\(count)")
            do {
                try body.write(to: file)
            } catch {
                note(17, "body written to a file", sample.request.url, "the checks cannot write it: \(error)")
                continue
            }
            await checkUpload(sample.request, body, file)
        }
    }

    private func checkUpload(_ request: URLRequest, _ body: Data, _ file: URL) async {
        var streamed = request
        streamed.setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
        let forms: [(String, @Sendable (URLSession) -> URLSessionTask)] = [
            ("body of \(body.count) bytes from data", { $0.uploadTask(with: request, from: body) }),
            ("body of \(body.count) bytes from a file", { $0.uploadTask(with: request, fromFile: file) }),
            (
                "body of \(body.count) bytes from a stream",
                { [streamed] session in
                    var request = streamed
                    request.httpBodyStream = InputStream(data: body)
                    return session.dataTask(with: request)
                }
            ),
        ]
        var first: LoadObserver.Outcome?
        for (check, makeTask) in forms {
            guard let outcome = await outcome(17, check, request, LoadObserver(), makeTask) else { continue }
            note(17, check, request.url, outcome.error.map { "it failed: \($0)" })
            guard outcome.error == nil else { continue }
            note(
                18, check, request.url,
                outcome.bytesSent == Int64(body.count)
                    ? nil : "didSendBodyData counted \(outcome.bytesSent) of \(body.count) bytes")
            guard let first else {
                first = outcome
                continue
            }
            let statuses = [first, outcome].map { ($0.response as? HTTPURLResponse)?.statusCode ?? 0 }
            note(
                17, check, request.url,
                statuses[0] == statuses[1] && first.data == outcome.data
                    ? nil : "the answer differs from that to data: status \(statuses[1]) instead of \(statuses[0])")
        }
    }

    // MARK: Redirects

    func checkRedirect(_ sample: ConformanceSample) async {
        let request = sample.request
        if let outcome = await outcome(15, "redirect followed", request, LoadObserver(), { $0.dataTask(with: request) })
        {
            note(15, "redirect followed", request.url, outcome.error.map { "it failed: \($0)" })
            note(
                15, "redirect followed", request.url,
                outcome.response?.url == request.url ? "the response is the redirect's own" : nil)
        }
        let refusal = LoadObserver(follows: false)
        if let outcome = await outcome(15, "redirect refused", request, refusal, { $0.dataTask(with: request) }) {
            note(
                15, "redirect refused", request.url,
                outcome.error == nil && outcome.response?.url == request.url && outcome.data.isEmpty
                    ? nil
                    : "it ended with \(outcome.error.map { "\($0)" } ?? "no error"), \(outcome.data.count) bytes, and the response of "
                        + "\(outcome.response?.url?.absoluteString ?? "nothing")")
        }
        let check = "redirect in an asynchronous load"
        let result = await withSession(check, request.url) { session in
            await withTimeLimit(15, check, request.url) { () -> (any Error)? in
                do { _ = try await session.data(for: request) } catch { return error }
                return nil
            }
        }
        if let result { note(15, check, request.url, result.map { "it failed: \($0)" }) }
    }

    // MARK: Challenges

    func checkChallenge(_ sample: ConformanceSample, _ credential: URLCredential) async {
        let request = sample.request
        let makeTask: @Sendable (URLSession) -> URLSessionTask = { $0.dataTask(with: request) }

        var check = "challenge answered with the credential"
        let right = LoadObserver(answer: {
            $0 < 3 ? (.useCredential, credential) : (.cancelAuthenticationChallenge, nil)
        })
        if let outcome = await outcome(16, check, request, right, makeTask) {
            note(16, check, request.url, outcome.error.map { "it failed: \($0)" })
            note(
                16, check, request.url,
                outcome.challenges == 1 ? nil : "the delegate was asked \(outcome.challenges) times")
        }

        check = "challenge cancelled"
        if let outcome = await outcome(
            16, check, request, LoadObserver(answer: { _ in (.cancelAuthenticationChallenge, nil) }), makeTask)
        {
            let code = (outcome.error as? URLError)?.code
            note(
                16, check, request.url,
                code == .cancelled || code == .userCancelledAuthentication
                    ? nil : "it ended with \(outcome.error.map { "\($0)" } ?? "no error")")
        }

        for (name, disposition) in [
            ("handled by default", URLSession.AuthChallengeDisposition.performDefaultHandling),
            ("rejected", .rejectProtectionSpace),
        ] {
            let check = "challenge \(name)"
            let observer = LoadObserver(answer: { $0 < 3 ? (disposition, nil) : (.cancelAuthenticationChallenge, nil) })
            guard let outcome = await outcome(16, check, request, observer, makeTask) else { continue }
            note(
                16, check, request.url,
                outcome.challenges <= 2 ? nil : "the delegate was asked \(outcome.challenges) times for the same space")
        }

        check = "cancelled while a challenge is not answered"
        let silent = LoadObserver(perform: { _, task in task.cancel() }, answer: { _ in nil })
        if let outcome = await outcome(16, check, request, silent, makeTask) {
            note(
                16, check, request.url,
                (outcome.error as? URLError)?.code == .cancelled
                    ? nil : "it ended with \(outcome.error.map { "\($0)" } ?? "no error")")
        }
    }

    // MARK: Failures

    func checkFailure(_ sample: ConformanceSample) async {
        let request = sample.request
        let forms: [(String, @Sendable (URLSession) -> URLSessionTask)] = [
            ("fails in a data task", { $0.dataTask(with: request) }),
            ("fails in a download task", { $0.downloadTask(with: request) }),
        ]
        var errors: [String] = []
        for (check, makeTask) in forms {
            guard let outcome = await outcome(12, check, request, LoadObserver(), makeTask) else { continue }
            note(12, check, request.url, outcome.error == nil ? "it ended without an error" : nil)
            if let error = outcome.error as? NSError { errors.append("\(error.domain) \(error.code)") }
        }
        let check = "fails in an asynchronous load"
        let result = await withSession(check, request.url) { session in
            await withTimeLimit(12, check, request.url) { () -> (any Error)? in
                do { _ = try await session.data(for: request) } catch { return error }
                return nil
            }
        }
        if let result {
            note(12, check, request.url, result == nil ? "it ended without an error" : nil)
            if let error = result as? NSError { errors.append("\(error.domain) \(error.code)") }
        }
        note(
            12, "errors of all forms compared", request.url,
            Set(errors).count <= 1 ? nil : "they differ: \(errors.joined(separator: ", "))")
    }
}
