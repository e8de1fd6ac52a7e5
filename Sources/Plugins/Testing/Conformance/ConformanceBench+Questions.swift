import Foundation
import LoadingKit

/// Checks with loads that require an answer of the program, send a body, or fail.
extension ConformanceBench {
    // MARK: Uploads

    func checkUpload(_ request: URLRequest) async {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "conformance-\(UUID().uuidString)", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for count in [0, 1, 65_536, 1_000_000] {
            let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let file = folder.appendingPathComponent("\(count)")
            do {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try body.write(to: file)
                await checkUpload(request, body, file)
            } catch {
                ConformanceCheck(self, "body written to a file", request).expect(
                    17, false, "the checks cannot write it: \(error)")
            }
        }
    }

    private func checkUpload(_ request: URLRequest, _ body: Data, _ file: URL) async {
        var streamed = request
        streamed.setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
        let forms: [(String, @Sendable (URLSession) -> URLSessionTask)] = [
            ("data", { $0.uploadTask(with: request, from: body) }),
            ("a file", { $0.uploadTask(with: request, fromFile: file) }),
            (
                "a stream",
                { [streamed] session in
                    var request = streamed
                    request.httpBodyStream = InputStream(data: body)
                    return session.dataTask(with: request)
                }
            ),
        ]
        var first: LoadObserver.Outcome?
        for (source, makeTask) in forms where !isStalled(request) {
            let check = ConformanceCheck(self, "body of \(body.count) bytes from \(source)", request)
            guard let outcome = await check.outcome(17, LoadObserver(), makeTask) else { continue }
            check.expectSuccess(17, outcome.error)
            guard outcome.error == nil else { continue }
            let reference = first ?? outcome
            first = reference
            let statuses = [reference, outcome].map { ($0.response as? HTTPURLResponse)?.statusCode ?? 0 }
            check.expect(
                17, statuses[0] == statuses[1] && reference.data == outcome.data,
                "the answer to \(source) differs from that to data (status \(statuses[1]) after \(statuses[0])): read "
                    + "LoadContext.body, which has the body of each kind")
            check.expect(
                18, outcome.bytesSent == Int64(body.count),
                "didSendBodyData counted \(outcome.bytesSent) of \(body.count) bytes: call report(progress:) with the "
                    + "bytes of each piece that goes out")
        }
    }

    // MARK: Redirects

    func checkRedirect(_ request: URLRequest) async {
        let followed = ConformanceCheck(self, "redirect followed", request)
        if let outcome = await followed.outcome(15) {
            followed.expectSuccess(15, outcome.error)
            followed.expect(
                15, outcome.response?.url != request.url,
                "the response is the redirect's own: call redirect(to:response:)")
        }
        if isStalled(request) { return }
        let refused = ConformanceCheck(self, "redirect refused", request)
        if let outcome = await refused.outcome(15, LoadObserver(follows: false)) {
            refused.expect(
                15, outcome.error == nil && outcome.response?.url == request.url && outcome.data.isEmpty,
                "it ended with \(outcome.end), and the response of "
                    + "\(outcome.response?.url?.absoluteString ?? "nothing")"
            )
        }
        let check = ConformanceCheck(self, "redirect in an asynchronous load", request)
        if let result = await check.result(15, { try await $0.data(for: request).0 }) {
            check.expectSuccess(15, result.error)
        }
    }

    // MARK: Challenges

    func checkChallenge(_ request: URLRequest, _ credential: URLCredential) async {
        let right = LoadObserver(answer: {
            $0 < 3 ? (.useCredential, credential) : (.cancelAuthenticationChallenge, nil)
        })
        let answered = ConformanceCheck(self, "challenge answered with the credential", request)
        if let outcome = await answered.outcome(16, right) {
            answered.expectSuccess(16, outcome.error)
            answered.expect(
                16, outcome.challenges == 1,
                "the delegate was asked \(outcome.challenges) times: use the answer to the first")
            if outcome.error == nil { await checkRefusals(request, credential, outcome) }
        }

        if isStalled(request) { return }
        let cancelled = ConformanceCheck(self, "challenge cancelled", request)
        let cancelling = LoadObserver(answer: { _ in (.cancelAuthenticationChallenge, nil) })
        if let outcome = await cancelled.outcome(16, cancelling) {
            let isCancelled = outcome.isCancelled || outcome.code == .userCancelledAuthentication
            cancelled.expect(
                outcome.challenges == 0 ? 2 : 16, isCancelled,
                outcome.challenges == 0
                    ? "no challenge came: another session's answer was used. Keep nothing of a load in static state"
                    : "it ended with \(outcome.end): fail with URLError.userCancelledAuthentication")
        }

        for (name, disposition) in [
            ("handled by default", URLSession.AuthChallengeDisposition.performDefaultHandling),
            ("rejected", .rejectProtectionSpace),
        ] where !isStalled(request) {
            let check = ConformanceCheck(self, "challenge \(name)", request)
            let observer = LoadObserver(answer: { $0 < 3 ? (disposition, nil) : (.cancelAuthenticationChallenge, nil) })
            guard let outcome = await check.outcome(16, observer) else { continue }
            check.expect(
                16, outcome.challenges <= 2,
                "the delegate was asked \(outcome.challenges) times for the same space: end the load after this answer")
        }

        let unanswered = ConformanceCheck(self, "cancelled while a challenge is not answered", request)
        let silent = LoadObserver(perform: { _, task in task.cancel() }, answer: { _ in nil })
        if let outcome = await unanswered.outcome(16, silent) {
            unanswered.expect(16, outcome.isCancelled, "it ended with \(outcome.end)")
        }
    }

    /// A wrong credential, and none, must not load what the right one loads.
    private func checkRefusals(
        _ request: URLRequest, _ credential: URLCredential, _ right: LoadObserver.Outcome
    ) async {
        // Who answers `http` is a server of the test, which may accept everything.
        guard let user = credential.user, !["http", "https"].contains(request.url?.scheme?.lowercased()) else { return }
        let wrong = URLCredential(user: user + "-wrong", password: UUID().uuidString, persistence: .none)
        for (name, disposition) in [
            ("challenge answered with a wrong credential", URLSession.AuthChallengeDisposition.useCredential),
            ("challenge rejected", .rejectProtectionSpace),
        ] {
            let check = ConformanceCheck(self, name, request)
            let observer = LoadObserver(answer: {
                $0 == 0
                    ? (disposition, disposition == .useCredential ? wrong : nil) : (.cancelAuthenticationChallenge, nil)
            })
            guard let outcome = await check.outcome(16, observer), outcome.challenges > 0 else { continue }
            let statuses = [right, outcome].map { ($0.response as? HTTPURLResponse)?.statusCode ?? 0 }
            check.expect(
                16, outcome.error != nil || statuses[0] != statuses[1] || outcome.data != right.data,
                "it loaded what the right credential loads: use the answer's credential, and no other")
        }
    }

    // MARK: Failures

    func checkFailure(_ request: URLRequest, _ expected: (any Error)?) async {
        var errors: [String] = []
        func note(_ check: ConformanceCheck, _ error: (any Error)?) {
            check.expect(
                12, error != nil, "it ended without an error: throw it from load(_:), and catch none to return")
            guard let error else { return }
            let isCancelled = (error as? URLError)?.code == .cancelled
            check.expect(
                12, !isCancelled || (expected as? URLError)?.code == .cancelled,
                "it ended as cancelled, and nobody cancelled it: throw an error of your own, and no CancellationError")
            let name = Self.name(of: error)
            if let expected, !isCancelled {
                check.expect(
                    12, name == Self.name(of: expected),
                    "it ended with \(name) instead of \(Self.name(of: expected)): throw it as it is")
            }
            errors.append(name)
        }
        let data = ConformanceCheck(self, "fails in a data task", request)
        guard let outcome = await data.outcome(12) else { return }
        note(data, outcome.error)
        let download = ConformanceCheck(self, "fails in a download task", request)
        if let outcome = await download.outcome(12, LoadObserver(), { $0.downloadTask(with: request) }) {
            note(download, outcome.error)
        }
        let check = ConformanceCheck(self, "fails in an asynchronous load", request)
        if let result = await check.result(12, { try await $0.data(for: request).0 }) { note(check, result.error) }
        ConformanceCheck(self, "errors of all forms compared", request).expect(
            12, Set(errors).count <= 1, "they differ: \(errors.joined(separator: ", "))")
    }

    private static func name(of error: any Error) -> String {
        let bridged = error as NSError
        let type = error is URLError ? "" : "\(type(of: error)) "
        return "\(type)(\(bridged.domain) \(bridged.code))"
    }
}
