import Foundation
import LoadingKit
import LoadingKitForms
import LoadingKitLoopbackServer
import LoadingKitTransport
import Synchronization
import Testing

/// Forms sent to a server.
@Suite(.timeLimit(.minutes(5))) struct FormUploadTests {
    /// Sends each form to a server that answers how it came.
    private static func answer(_ form: MultipartForm, _ options: MultipartOptions = .init()) async throws -> String {
        let server = try LoopbackServer { request in
            let framing = request.fields[name: "Content-Length"] ?? request.fields[name: "Transfer-Encoding"] ?? "none"
            let isWhole = request.bodyText.hasSuffix("--\r\n")
            return .text("\(request.method) \(framing) \(request.bodyLength) \(isWhole)")
        }
        defer { server.stop() }
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.upload(for: URLRequest(url: url(server.url())), form: form, options: options)
        return String(decoding: data, as: UTF8.self)
    }

    @Test func everyKindOfPartHasItsLength() async throws {
        let folder = try Folder()
        let file = try folder.write(Data(repeating: 65, count: 300_000), to: "f.txt")
        var form = MultipartForm()
        form.append("text", text: "x")
        let small = try form.makeBody().contentLength ?? 0
        #expect(try await Self.answer(form) == "POST \(small) \(small) true")
        form.append("file", file: file)
        form.append("pieces", length: 4) { pieces("ab", "cd") }
        form.append("stream", length: 6) { InputStream(data: Data("stream".utf8)) }
        let all = try form.makeBody().contentLength ?? 0
        #expect(all > 300_000)
        #expect(try await Self.answer(form) == "POST \(all) \(all) true")
    }

    @Test func anUnknownLengthIsSentInChunksWhereThatIsAskedFor() async throws {
        var form = MultipartForm(boundary: "b")
        form.append("pieces") { pieces("ab", "cd") }
        await #expect(throws: MultipartFormError.unknownLength(part: "pieces")) { try await Self.answer(form) }
        var options = MultipartOptions()
        options.allowsUnknownLength = true
        let length = try await readAll(form.makeBody(allowsUnknownLength: true)).count
        #expect(try await Self.answer(form, options) == "POST chunked \(length) true")
    }

    enum Change: CaseIterable {
        case shrinks, grows, vanishes, becomesFolder
    }

    /// A form of more than 1 MiB waits until the server wants it, which changes the file before.
    @Test(arguments: Change.allCases) func aFileThatChangesIsAnErrorAndNeverAWrongBody(change: Change) async throws {
        let folder = try Folder()
        let file = try folder.sparse("file.bin", size: 2_000_000)
        var options = LoopbackServer.Options()
        options.beforeBody = { _ in
            switch change {
            case .shrinks: _ = truncate(file.path, 1_999_999)
            case .grows: _ = truncate(file.path, 2_000_001)
            case .vanishes: unlink(file.path)
            case .becomesFolder:
                unlink(file.path)
                mkdir(file.path, 0o700)
            }
            return nil
        }
        let server = try LoopbackServer(options) { _ in .text("whole") }
        defer { server.stop() }
        // Time stands still: that to wait for the server's word is never over.
        let loop = EventLoop(name: "still", time: .manual(ManualTime()))
        defer { loop.stop() }
        let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: nil, loop: loop)
        defer { session.invalidateAndCancel() }
        var form = MultipartForm()
        form.append("file", file: file)
        let expected: MultipartFormError =
            switch change {
            case .shrinks: .fileChanged(path: file.path, expected: 2_000_000, found: 1_999_999)
            case .grows: .fileChanged(path: file.path, expected: 2_000_000, found: 2_000_001)
            case .vanishes: .unreadableFile(path: file.path, errno: ENOENT)
            case .becomesFolder: .notARegularFile(path: file.path)
            }
        await #expect(throws: expected) { try await session.upload(for: request(server.url()), form: form) }
        await server.endings.count(reaches: 1)
        #expect(server.requests.count == 0)
    }

    /// While it is being sent: the server has had the first bytes.
    @Test(arguments: [false, true]) func aFileThatShrinksHalfWayIsAnError(isChunked: Bool) async throws {
        let folder = try Folder()
        let file = try folder.sparse("file.bin", size: 64 << 20)
        let shrunk = Mutex(false)
        var options = LoopbackServer.Options()
        options.receiveBody = { _, _ in
            let isFirst = shrunk.withLock { shrunk in
                defer { shrunk = true }
                return !shrunk
            }
            if isFirst { _ = truncate(file.path, 1 << 20) }
        }
        let server = try LoopbackServer(options) { _ in .text("whole") }
        defer { server.stop() }
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        var form = MultipartForm()
        form.append("file", file: file)
        var formOptions = MultipartOptions()
        if isChunked {
            form.append("more") { pieces("x") }
            formOptions.allowsUnknownLength = true
        }
        let error = await #expect(throws: MultipartFormError.self) {
            try await session.upload(for: request(server.url()), form: form, options: formOptions)
        }
        guard case .fileChanged(file.path, 64 << 20, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await server.endings.count(reaches: 1)
        #expect(server.requests.count == 0)
    }

    /// For programs that set the body themselves the error's text says why.
    @Test func setFormFailsWithTheReasonInTheText() async throws {
        let folder = try Folder()
        let file = try folder.sparse("file.bin", size: 100_000)
        let server = try LoopbackServer { _ in .text("whole") }
        defer { server.stop() }
        var form = MultipartForm()
        form.append("file", file: file)
        var request = try request(server.url(), "PUT")
        try request.setForm(form)
        #expect(request.httpBodyStream != nil && request.httpMethod == "PUT")
        #expect(truncate(file.path, 5) == 0)
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(error?.localizedDescription.contains("had 100000 bytes when the form was made, and 5") == true)
    }

    @Test func aBodyIsMadeAnewForRedirectsAndChallenges() async throws {
        let server = try LoopbackServer { request in
            switch (request.path, request.fields[name: "Authorization"]) {
            case ("/old", _): .redirect(to: "/older", status: 308)
            case ("/older", _): .redirect(to: "/new", status: 307)
            case ("/new", nil): ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"r\"")
            default: .text("\(request.path) \(request.bodyText)")
            }
        }
        defer { server.stop() }
        final class Login: NSObject, URLSessionTaskDelegate {
            let redirects = Recorder<String>()
            func urlSession(
                _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
            ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
                (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
            }
            func urlSession(
                _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
            ) {
                redirects.append(request.url?.path ?? "")
                completionHandler(request)
            }
        }
        var form = MultipartForm(boundary: "b")
        form.append("p", length: 4) { pieces("ab", "cd") }
        let expected = "/new --b\r\nContent-Disposition: form-data; name=\"p\"\r\n\r\nabcd\r\n--b--\r\n"
        for isSessions in [false, true] {
            let login = Login()
            let session = URLSession(
                configuration: .ephemeral, delegate: isSessions ? login : nil, delegateQueue: nil)
            defer { session.invalidateAndCancel() }
            let (data, _) = try await session.upload(
                for: request(server.url("/old")), form: form, delegate: isSessions ? nil : login)
            #expect(String(decoding: data, as: UTF8.self) == expected)
            #expect(login.redirects.snapshot == ["/older", "/new"])
        }
    }

    /// The rules of other bodies: a request on a connection that is new is not sent again. The second connection is
    /// answered.
    @Test(
        arguments: [("PUT", nil, true), ("POST", "k", true), ("PUT", nil, false), ("POST", nil, false)]
            as [(String, String?, Bool)])
    func aLostConnectionIsTriedAgainWhereThatDoesNoHarm(
        _ method: String, _ key: String?, hasServed: Bool
    ) async throws {
        let server = try LoopbackServer { request in
            if request.connection == 0, request.method != "GET" { try request.exchange.closeAbruptly() }
            return .text("\(request.bodyText.contains("content"))")
        }
        defer { server.stop() }
        let folder = try Folder()
        var form = MultipartForm()
        form.append("file", file: try folder.write(Data("content".utf8), to: "f.txt"))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.retriesUnansweredRequests = false
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        if hasServed { _ = try await session.data(from: url(server.url())) }
        var request = try request(server.url(), method)
        if let key { request.setValue(key, forHTTPHeaderField: "Idempotency-Key") }
        if hasServed {
            let (data, _) = try await session.upload(for: request, form: form)
            #expect(String(decoding: data, as: UTF8.self) == "true")
        } else {
            let error = await #expect(throws: URLError.self) { try await session.upload(for: request, form: form) }
            #expect(error?.code == .networkConnectionLost)
        }
        #expect(server.requests.snapshot.count { $0.method == method } == (hasServed ? 2 : 1))
    }

    /// A server that closes an idle connection has most likely not looked at the request. A form is sent before: the first
    /// challenge in the process shows that the forms' delegates have no method for challenges.
    @Test(arguments: [true, false], [false, true])
    func aPostOnAConnectionThatHasServedIsSentOnceMore(isAllowed: Bool, isSecure: Bool) async throws {
        let authority = try CertificateAuthority()
        let tls: TLSServerOptions? = try isSecure ? TLSServerOptions(authority.issue()) : nil
        let server = try LoopbackServer(LoopbackServer.Options(tls: tls)) { request in
            if request.target == "/lost", request.number > 0 { try request.exchange.closeAbruptly() }
            return .text("whole")
        }
        defer { server.stop() }
        let folder = try Folder()
        var form = MultipartForm()
        form.append("file", file: try folder.write(Data("content".utf8), to: "f.txt"))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.retriesUnansweredRequests = isAllowed
        configuration.tlsTrustRoots = .pem(authority.certificatePEM)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        _ = try await session.upload(for: request(server.url()), form: form)
        _ = try await session.data(from: url(server.url()))
        let lost = try request(server.url("/lost"))
        if isAllowed {
            let (data, _) = try await session.upload(for: lost, form: form)
            #expect(String(decoding: data, as: UTF8.self) == "whole")
        } else {
            await #expect(throws: URLError.self) { try await session.upload(for: lost, form: form) }
        }
        // The form follows the request before it on its connection, and is sent again on one of its own.
        let connections = server.requests.snapshot.dropFirst().map(\.connection)
        #expect(connections.count == (isAllowed ? 3 : 2))
        #expect(
            connections.prefix(2).allSatisfy { $0 == connections.first }
                && Set(connections).count == connections.count - 1)
    }

    /// The session's delegate trusts the server, with its method for tasks.
    @Test func formsShareAConnectionOverTLS() async throws {
        final class Trusting: NSObject, URLSessionTaskDelegate {
            let asked = Recorder<String>()
            func urlSession(
                _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
                completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                asked.append(challenge.protectionSpace.authenticationMethod)
                guard let trust = challenge.protectionSpace.serverTrust else {
                    return completionHandler(.performDefaultHandling, nil)
                }
                completionHandler(.useCredential, URLCredential(trust: trust))
            }
        }
        let server = try LoopbackServer(tls: try CertificateAuthority().issue()) { _ in .text("whole") }
        defer { server.stop() }
        let delegate = Trusting()
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        var form = MultipartForm()
        form.append("p", length: 4) { pieces("ab", "cd") }
        // The first challenge in the process shows that the forms' delegates have no method for challenges.
        _ = try await session.upload(for: request(server.url()), form: form)
        _ = try await session.data(from: url(server.url()))
        let count = delegate.asked.snapshot.count
        _ = try await session.upload(for: request(server.url()), form: form)
        let connections = server.requests.snapshot.suffix(2).map(\.connection)
        #expect(connections.first == connections.last)
        #expect(delegate.asked.snapshot.count == count)
    }

    /// Both servers have sent something since the request, and may have acted upon it: over HTTP/2 a WINDOW_UPDATE.
    @Test(arguments: [false, true]) func aPostThatTheServerHasHeardOfIsSentOnce(isHTTP2: Bool) async throws {
        var options = LoopbackServer.Options()
        options.speaksHTTP2 = isHTTP2
        if !isHTTP2 { options.interimResponses = { $0.method == "POST" ? [.init(103)] : [] } }
        let server = try LoopbackServer(options) { request in
            if request.method == "POST" { try request.exchange.closeAbruptly() }
            return .text("served")
        }
        defer { server.stop() }
        let folder = try Folder()
        var form = MultipartForm()
        form.append("file", file: try folder.sparse("f.bin", size: 1_000_000))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.assumesCleartextHTTP2 = isHTTP2
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        _ = try await session.data(from: url(server.url()))
        let error = await #expect(throws: URLError.self) {
            try await session.upload(for: request(server.url()), form: form)
        }
        #expect(error?.code == .networkConnectionLost)
        #expect(server.requests.snapshot.map(\.method) == ["GET", "POST"])
    }

    /// A sequence without pieces does not outlive the upload that waits for it.
    @Test func cancellingEndsASequenceThatIsWaitedFor() async throws {
        let server = try LoopbackServer { _ in .text("whole") }
        defer { server.stop() }
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        let (begun, ended) = (Signal(), Signal())
        var form = MultipartForm()
        form.append("p", length: 10) {
            begun.fire()
            return AsyncStream<Data> { continuation in
                continuation.onTermination = { _ in ended.fire() }
                continuation.yield(Data("12".utf8))
            }
        }
        let (sent, target) = (form, server.url())
        let task = Task { try await session.upload(for: request(target), form: sent) }
        await begun.wait()
        task.cancel()
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        await ended.wait()
        #expect(ended.hasFired && server.requests.count == 0)
    }

    /// More bodies wait for their sequences than there are threads for the program's code, and other code gets one.
    @Test func bodiesThatWaitForASequenceOccupyNoThread() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.register(scheme: "echo") { load in
            let body = try await load.body.collect()
            try await load.receive(
                URLResponse(url: load.url, mimeType: nil, expectedContentLength: body.count, textEncodingName: nil))
            try await load.receive(body)
        }
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let (begun, release) = (Recorder<Int>(), Signal())
        try await withThrowingTaskGroup(of: Data.self) { group in
            for number in 0..<600 {
                var form = MultipartForm()
                form.append("p", length: 1) {
                    begun.append(number)
                    await release.wait()
                    return AsyncStream<Data> { continuation in
                        continuation.yield(Data("x".utf8))
                        continuation.finish()
                    }
                }
                let sent = form
                group.addTask { try await session.upload(for: request("echo:a"), form: sent).0 }
            }
            await begun.count(reaches: 600)
            var form = MultipartForm()
            form.append("s", length: 6) { InputStream(data: Data("stream".utf8)) }
            let (data, _) = try await session.upload(for: request("echo:a"), form: form)
            #expect(String(decoding: data, as: UTF8.self).contains("stream"))
            release.fire()
            for try await data in group { #expect(String(decoding: data, as: UTF8.self).contains("\r\n\r\nx\r\n--")) }
        }
    }

    @Test func manyAtOnceDoNotMixTheirBodies() async throws {
        let server = try LoopbackServer { request in .text(request.bodyText) }
        defer { server.stop() }
        let folder = try Folder()
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        let target = server.url()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                let file = try folder.write(Data("file \(number).".utf8), to: "\(number).txt")
                group.addTask {
                    var form = MultipartForm()
                    form.append("n", text: "text \(number).")
                    if number % 2 == 0 { form.append("f", file: file) }
                    if number % 3 == 0 { form.append("p", length: 6) { pieces("abc", "def") } }
                    let (data, _) = try await session.upload(for: request(target), form: form)
                    let text = String(decoding: data, as: UTF8.self)
                    return text.contains("text \(number).") && text.contains("file \(number).") == (number % 2 == 0)
                        && text.contains("abcdef") == (number % 3 == 0)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    /// 256 MiB pass through. What was read from the file and not received by the server yet is what may be in memory.
    @Test func aLargeFileIsReadAsItIsSent() async throws {
        let size = 256 << 20
        let folder = try Folder()
        let file = try folder.sparse("large.bin", size: size)
        let received = Mutex((count: 0, ahead: 0, readings: 0))
        var options = LoopbackServer.Options()
        options.receiveBody = { _, bytes in
            received.withLock { received in
                received.count += bytes.count
                // A look for each 4 MiB: it lists the process's descriptors.
                guard received.count >> 22 > received.readings, let position = readPosition(in: file) else { return }
                received.readings = received.count >> 22
                received.ahead = max(received.ahead, position - received.count)
            }
        }
        let server = try LoopbackServer(options) { _ in .text("whole") }
        defer { server.stop() }
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        var form = MultipartForm()
        form.append("file", file: file)
        let length = try form.makeBody().contentLength ?? 0
        _ = try await session.upload(for: request(server.url()), form: form)
        let (count, ahead, readings) = received.withLock { $0 }
        #expect(count == Int(length) && length > Int64(size))
        #expect(readings > 8, "the file's position was read \(readings) times")
        // The buffers of two sockets on loopback, which the system lets grow to some MiB, and pieces.
        #expect(ahead < 48 << 20, "\(ahead) bytes were read ahead")
    }
}

/// The position at which this process reads a file; nil where the file is not open.
private func readPosition(in file: URL) -> Int? {
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    for descriptor in descriptors {
        guard (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) == file.path,
            let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("pos:") })
        else { continue }
        return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).last.flatMap { Int($0) }
    }
    return nil
}
