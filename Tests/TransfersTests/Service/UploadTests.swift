import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransfers

#if Persistence
    @Suite("Uploads of the service")
    struct UploadTests {
        @Test("an upload is sent again from the beginning, and its response is kept")
        func upload() async throws {
            try await withTimeout {
                let (harness, count) = (try ServiceHarness(), Box(0))
                let server = try LoopbackServer { request in
                    guard
                        count.update({
                            $0 += 1; return $0
                        }) > 1
                    else { throw CancellationError() }
                    return .text("\(request.method) \(request.body.count)")
                }
                defer { server.stop() }
                let file = try harness.folder.write(Data(count: 100_000), to: "file")
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                try await program.upload(1, file.path, to: server.url())
                let end = try await program.end(of: 1)
                #expect(end.error == nil && end.progress.sent == 100_000)
                let answer = try Data(contentsOf: URL(fileURLWithPath: try #require(end.file)))
                #expect(String(decoding: answer, as: UTF8.self) == "PUT 100000")
                try await program.takeAll(1)
                #expect(harness.files.isEmpty)
            }
        }

        /// A server that speaks the draft of resumable uploads, and does not answer the request itself.
        private static func uploadServer(
            _ gate: Signal, _ authority: CertificateAuthority?
        ) throws -> LoopbackServer {
            var options = LoopbackServer.Options(tls: try authority.map { TLSServerOptions(try $0.issue()) })
            options.interimResponses = { request in
                guard request.method == "PUT" else { return [] }
                var fields = HTTPFields()
                fields.append(name: "Location", value: "/uploads/1")
                fields.append(name: "Upload-Draft-Interop-Version", value: "6")
                return [.init(104, fields: fields)]
            }
            return try LoopbackServer(options) { request in
                let answer: ServerResponse
                switch (request.method, request.path) {
                case ("HEAD", "/uploads/1"):
                    answer = ServerResponse(204).adding("Upload-Offset", "40000").adding("Upload-Complete", "?0")
                case ("PATCH", "/uploads/1"):
                    answer = .text("\(request.fields[name: "X-Token"] ?? "-") \(request.body.count)").adding(
                        "Upload-Complete", "?1")
                case _:
                    gate.waitBlocking()
                    throw CancellationError()
                }
                return answer.adding("Upload-Draft-Interop-Version", "6")
            }
        }

        /// An authority for a server with TLS. All transfers know that `localhost` requires `https` (HSTS).
        private static func requireTLS(_ harness: ServiceHarness) throws -> CertificateAuthority {
            harness.makeConfiguration.value = {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.settings.hsts.note("max-age=1000", from: "localhost")
                return configuration
            }
            return try CertificateAuthority()
        }

        /// An `http` URL, whether the server has TLS or not.
        private static func url(_ server: LoopbackServer) -> String {
            server.url(host: "localhost").replacing("https:", with: "http:")
        }

        /// The first URL of an upload that was redirected before its resume data was made.
        private static let elsewhere = URL(string: "http://elsewhere.example/")

        @Test(
            "an upload goes on where it broke off, in another process",
            arguments: [(false, false), (true, false), (false, true)])
        func goesOn(isAtHSTSHost: Bool, wasRedirected: Bool) async throws {
            try await withTimeout {
                let (harness, gate) = (try ServiceHarness(), Signal())
                let authority = try isAtHSTSHost ? Self.requireTLS(harness) : nil
                let configure: @Sendable (URLSessionConfiguration) -> Void = {
                    $0.httpAdditionalHeaders = ["X-Token": "t"]
                    if let authority { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
                }
                let server = try Self.uploadServer(gate, authority)
                defer {
                    gate.fire()
                    server.stop()
                }
                let file = try harness.folder.write(Data(count: 100_000), to: "file")
                let first = try harness.start()
                let program = TestProgram(first, try harness.description { configure($0) })
                let answering = program.decideByRules()
                defer { answering.cancel() }
                try await program.upload(1, file.path, to: Self.url(server)) {
                    if wasRedirected { $0.firstURL = Self.elsewhere }
                }
                let (journal, key) = (try harness.journal, TransferKey(session: 1, identifier: 1))
                try await waitUntil { try journal.transfer(key)?.status.uploadResource != nil }
                let resource = try journal.transfer(key)?.status.uploadResource
                #expect(resource?.scheme == (isAtHSTSHost ? "https" : "http"))
                await server.requests.count(reaches: 1)
                first.stop()
                let second = try harness.start()
                defer { second.stop() }
                let again = TestProgram(second, try harness.description { configure($0) })
                let answeringAgain = again.decideByRules()
                defer { answeringAgain.cancel() }
                let end = try await again.end(of: 1)
                #expect(end.error == nil && end.progress.sent == 100_000)
                let answer = try Data(contentsOf: URL(fileURLWithPath: try #require(end.file)))
                #expect(String(decoding: answer, as: UTF8.self) == "t 60000")
                #expect(server.requests.snapshot.map(\.method) == ["PUT", "HEAD", "PATCH"])
            }
        }

        @Test(
            "an upload's resume data goes from one session to another",
            arguments: [(false, false), (true, false), (false, true)])
        func resumeData(isAtHSTSHost: Bool, wasRedirected: Bool) async throws {
            try await withTimeout {
                let (harness, gate) = (try ServiceHarness(), Signal())
                let authority = try isAtHSTSHost ? Self.requireTLS(harness) : nil
                let server = try Self.uploadServer(gate, authority)
                defer {
                    gate.fire()
                    server.stop()
                }
                let file = try harness.folder.write(Data(count: 100_000), to: "file")
                let service = try harness.start()
                defer { service.stop() }
                let description = try harness.description {
                    if let authority { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
                }
                let program = TestProgram(service, description)
                let answering = program.decideByRules()
                defer { answering.cancel() }
                try await program.upload(1, file.path, to: Self.url(server)) {
                    if wasRedirected { $0.firstURL = Self.elsewhere }
                }
                let (journal, key) = (try harness.journal, TransferKey(session: 1, identifier: 1))
                try await waitUntil { try journal.transfer(key)?.status.uploadResource != nil }
                await server.requests.count(reaches: 1)
                try await program.perform(.cancel(1, producingResumeData: true))
                let error = try await program.end(of: 1).error?.error as? URLError
                let data = try #require(error?.uploadTaskResumeData)
                #expect(try UploadResumeData(data).firstURL.host == (wasRedirected ? "elsewhere.example" : "localhost"))
                try await program.upload(2, file.path, to: Self.url(server)) { $0.resumeData = data }
                let end = try await program.end(of: 2)
                let answer = try Data(contentsOf: URL(fileURLWithPath: try #require(end.file)))
                #expect(String(decoding: answer, as: UTF8.self) == "- 60000")
                await #expect(throws: URLError.self) {
                    try await program.upload(3, file.path, to: server.url()) { $0.resumeData = Data("none".utf8) }
                }
                try Data(count: 100_000).write(to: file)
                await #expect(throws: URLError.self) {
                    try await program.upload(4, file.path, to: server.url()) { $0.resumeData = data }
                }
                #expect(server.requests.snapshot.map(\.method) == ["PUT", "HEAD", "PATCH"])
            }
        }

        @Test("an upload that is cancelled without a request for resume data has none")
        func cancelled() async throws {
            try await withTimeout {
                let (harness, gate) = (try ServiceHarness(), Signal())
                let server = try Self.uploadServer(gate, nil)
                defer {
                    gate.fire()
                    server.stop()
                }
                let file = try harness.folder.write(Data(count: 100_000), to: "file")
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                try await program.upload(1, file.path, to: Self.url(server))
                let (journal, key) = (try harness.journal, TransferKey(session: 1, identifier: 1))
                try await waitUntil { try journal.transfer(key)?.status.uploadResource != nil }
                try await program.perform(.cancel(1, producingResumeData: false))
                let error = try #require(try await program.end(of: 1).error)
                #expect(error.code == URLError.cancelled.rawValue && error.uploadResumeData == nil)
            }
        }

        enum Change: CaseIterable {
            case removed, shorter, longer, replaced, written
        }

        private static func change(_ file: URL, _ change: Change, _ harness: ServiceHarness) throws {
            switch change {
            case .removed: try FileManager.default.removeItem(at: file)
            case .shorter: try Data(count: 999).write(to: file)
            case .longer: try Data(count: 1001).write(to: file)
            case .replaced:
                let other = try harness.folder.write(Data(count: 1000), to: "other")
                #expect(rename(other.path, file.path) == 0)
            case .written:
                let times = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
                #expect(utimes(file.path, times) == 0)
            }
        }

        @Test("a copy is sent, whatever becomes of the file", arguments: Change.allCases, [false, true])
        func copied(_ change: Change, restarts: Bool) async throws {
            try await withTimeout {
                let (harness, count) = (try ServiceHarness(), Box(0))
                let body = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })
                let server = try LoopbackServer { request in
                    let number = count.update { count in
                        count += 1
                        return count
                    }
                    guard number > 1 else { throw CancellationError() }
                    return .text("\(Data(request.body) == body)")
                }
                defer { server.stop() }
                harness.randomness.value = 1
                let file = try harness.folder.write(body, to: "file")
                let first = try harness.start()
                let program = TestProgram(first, try harness.description())
                try await program.upload(1, file.path, to: server.url())
                await harness.pauses.count(reaches: 1)
                try Self.change(file, change, harness)
                if restarts { first.stop() }
                let second = restarts ? try harness.start() : first
                defer { second.stop() }
                let again = restarts ? TestProgram(second, try harness.description()) : program
                if !restarts { harness.pass(1) }
                let end = try await again.end(of: 1)
                #expect(end.error == nil)
                #expect(try Data(contentsOf: URL(fileURLWithPath: try #require(end.file))) == Data("true".utf8))
                try await again.takeAll(1)
                #expect(harness.files.isEmpty)
            }
        }

        @Test("copies are as their files were, and none are made of what is too large")
        func copies() throws {
            let folder = try TemporaryFolder()
            let file = try folder.write(Data(count: 1000), to: "file")
            let times = [timeval(tv_sec: 5, tv_usec: 6), timeval(tv_sec: 7, tv_usec: 8)]
            #expect(utimes(file.path, times) == 0)
            let (upload, path) = (UploadFile(path: file.path), folder.file("copy").path)
            let copy = try #require(upload.copy(to: path, upTo: 1000))
            let (before, after) = (try upload.state(), try copy.state())
            #expect(before.size == after.size && before.modified == 7 && after.modified == 7)
            #expect(before.modifiedNanoseconds == 8000 && after.modifiedNanoseconds == 8000)
            #expect(try Data(contentsOf: folder.file("copy")) == Data(count: 1000))
            #expect(upload.copy(to: path, upTo: -1) == nil)
            #expect(UploadFile(path: "/nowhere").copy(to: path, upTo: 1000) == nil)
            #expect(upload.copy(to: "/nowhere/copy", upTo: 1000) == nil)
        }

        @Test("a file of which there is no copy, and that was changed, ends its upload", arguments: Change.allCases)
        func changed(_ change: Change) async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                harness.largestCopy.value = -1
                let peer = try ScriptedPeer([.expectRequest, .reset])
                defer { peer.stop() }
                harness.randomness.value = 1
                let file = try harness.folder.write(Data(count: 1000), to: "file")
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                try await program.upload(1, file.path, to: peer.url())
                await harness.pauses.count(reaches: 1)
                try Self.change(file, change, harness)
                harness.pass(1)
                let error = try #require(try await program.end(of: 1).error)
                let code: URLError.Code = change == .removed ? .fileDoesNotExist : .requestBodyStreamExhausted
                #expect(error.code == code.rawValue)
                let said: String =
                    switch change {
                    case .removed: file.path
                    case .shorter: "it has 999 bytes, and had 1000"
                    case .longer: "it has 1001 bytes, and had 1000"
                    case .replaced: "another file has its name"
                    case .written: "it was written to"
                    }
                #expect("\(error.text ?? "") \(error.reason ?? "")".contains(said))
                #expect(peer.connections.count == 1)
            }
        }

        @Test("a file that came as a descriptor is sent when its name is gone, and its descriptor is closed")
        func descriptor() async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let server = try LoopbackServer { .text("\($0.body.count)") }
                defer { server.stop() }
                let file = try harness.folder.write(Data(count: 1000), to: "file")
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                let descriptor = OwnedDescriptor(open(file.path, O_RDONLY))
                try FileManager.default.removeItem(at: file)
                let url = try #require(URL(string: server.url()))
                var transfer = TransferRecord(
                    identifier: 1, kind: .upload, request: try #require(TransferRequest(URLRequest(url: url))))
                transfer.request.method = "POST"
                transfer.uploadFile = file.path
                try await program.perform(.begin(transfer), descriptors: [descriptor])
                let end = try await program.end(of: 1)
                #expect(end.error == nil)
                #expect(try Data(contentsOf: URL(fileURLWithPath: try #require(end.file))) == Data("1000".utf8))
            }
        }

        @Test("an upload that the server has answered is not sent again because the disk is full")
        func fullDisk() async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                harness.largestCopy.value = -1
                let server = try LoopbackServer { _ in .text("an answer") }
                defer { server.stop() }
                let file = try harness.folder.write(Data(count: 1000), to: "file")
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                _ = try await program.attached()
                service.loop.attach(FaultPlan(.pwrite, .from(1), .fail(ENOSPC)))
                try await program.upload(1, file.path, to: server.url())
                let error = try await program.end(of: 1).error
                #expect(error?.text?.contains("disk is full") == true)
                #expect(server.requests.count == 1)
            }
        }

        @Test("an upload that the server has answered is not sent again because the connection breaks")
        func brokenAnswer() async throws {
            try await withTimeout {
                let (harness, wasAnswered) = (try ServiceHarness(), Box(false))
                let server = try LoopbackServer { _ in
                    guard !wasAnswered.value else { return .text("a second answer") }
                    wasAnswered.value = true
                    return .stream(.length(1000), type: "text/plain") { body in
                        try body.write(Array("an answer ".utf8))
                        throw CancellationError()
                    }
                }
                defer { server.stop() }
                let file = try harness.folder.write(Data(count: 1000), to: "file")
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                try await program.upload(1, file.path, to: server.url())
                let end = try await program.end(of: 1)
                #expect(end.error?.code == URLError.networkConnectionLost.rawValue)
                #expect(end.response?.head?.statusCode == 200 && server.requests.count == 1)
            }
        }

        @Test("a body that is too long to be kept is refused")
        func longBody() async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                await #expect(throws: URLError.self) {
                    try await program.download(1, "http://127.0.0.1:1/") {
                        $0.request.body = Data(count: BackgroundRules.longestBody + 1)
                    }
                }
            }
        }
    }

    extension TestProgram {
        /// Leaves the trust in servers to the rules, until the task is cancelled.
        fileprivate func decideByRules() -> Task<Void, Never> {
            Task {
                for count in 1... {
                    guard let (transfer, number, _) = try? await challenge(count) else { return }
                    let reply = ChallengeReply(.performDefaultHandling)
                    try? await perform(.answerChallenge(transfer, challenge: number, reply))
                }
            }
        }
    }
#endif
