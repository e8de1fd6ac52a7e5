import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

/// What a background session says to what performs its transfers, and what it makes of the events: without a network.
@Suite struct BackgroundSessionTests {
    @Test func tasksOfAnEarlierRunAreThere() async throws {
        let world = BackgroundWorld()
        var (download, upload) = (TransferRecord.download(3, "three"), TransferRecord.upload(5))
        (download.status.progress.received, download.status.progress.expectedToReceive) = (10, 100)
        upload.stage = .suspended
        world.send(.attached(SessionState(nextIdentifier: 7, transfers: [download, upload])))
        let tasks = await world.session.allTasks
        #expect(tasks.map(\.taskIdentifier) == [3, 5])
        #expect(tasks.map { $0 is URLSessionDownloadTask } == [true, false])
        #expect(tasks.map { $0 is URLSessionUploadTask } == [false, true])
        #expect(tasks.map(\.state) == [.running, .suspended])
        #expect(tasks.first?.taskDescription == "three")
        #expect(tasks.first?.countOfBytesReceived == 10)
        #expect(tasks.map(\.countOfBytesExpectedToSend) == [0, NSURLSessionTransferSizeUnknown])
        #expect(tasks.first?.progress.totalUnitCount == 100)
        #expect(tasks.first?.originalRequest?.url == TransferRecord.url)
        #expect(world.session.downloadTask(with: TransferRecord.url).taskIdentifier >= 7)
        world.finish()
    }

    /// The interval of the metrics begins with the task, before its first attempt, and where it had none.
    @Test(arguments: [false, true]) func theIntervalBeginsWithTheTask(hasAttempt: Bool) async throws {
        let world = BackgroundWorld()
        var download = TransferRecord.download(4)
        download.created = Date(timeIntervalSince1970: 1_000_000)
        world.send(.attached(SessionState(nextIdentifier: 9, transfers: [download])))
        let file = try world.file("body")
        world.send(.ended(4, hasAttempt ? .success(file: file) : .failure(.timedOut)))
        let metrics = try #require(await world.delegate.metrics.element(at: 0))
        #expect(metrics.taskInterval.start == download.created)
        world.finish()
    }

    /// What the session answers to its first event is not lost, however early that comes.
    @Test func aSessionMayBeAttachedBeforeItGoesOn() async throws {
        var unreadable = TransferRecord.download(4)
        unreadable.request.url = ""
        let state = SessionState(nextIdentifier: 5, transfers: [unreadable])
        let world = BackgroundWorld(atOnce: state)
        #expect(await world.command() == "cancel 4")
        #expect(world.session.downloadTask(with: TransferRecord.url).taskIdentifier == 5)
        world.finish()
    }

    @Test func aTaskIsHandedOverBeforeResumeReturns() async throws {
        let world = BackgroundWorld(attached: true)
        var request = URLRequest(url: TransferRecord.url)
        request.setValue("yes", forHTTPHeaderField: "X-Kept")
        let task = world.session.downloadTask(with: request)
        (task.taskDescription, task.priority) = ("mine", 0.75)
        task.earliestBeginDate = Date(timeIntervalSince1970: 5_000_000_000)
        task.countOfBytesClientExpectsToReceive = 99
        #expect(world.begun.isEmpty)
        task.resume()
        let begun = try #require(world.begun.first)
        #expect(begun.identifier == task.taskIdentifier)
        #expect(begun.kind == .download)
        #expect(begun.request.request?.value(forHTTPHeaderField: "X-Kept") == "yes")
        #expect(begun.taskDescription == "mine" && begun.priority == 0.75)
        #expect(begun.earliestBeginDate == task.earliestBeginDate)
        #expect(begun.clientExpectsToReceive == 99)
        world.finish()
    }

    @Test func aTaskThatCannotBeHandedOverFails() async throws {
        let world = BackgroundWorld(attached: true)
        world.transfers.refuseNext(URLError(.cannotWriteToFile))
        world.session.downloadTask(with: TransferRecord.url).resume()
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed -3003")
        let file = URL(string: "file:///etc/hostname").map { world.session.downloadTask(with: $0) }
        file?.resume()
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed -1002")
        let gone = URL(fileURLWithPath: "/nowhere/at/all")
        world.session.uploadTask(with: URLRequest(url: TransferRecord.url), fromFile: gone).resume()
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed -1100")
        #expect(world.begun.count == 1)
        world.finish()
    }

    /// What a program was given as an upload's resume data is data: it does not end the program.
    @Test func anUploadFromResumeDataFails() async throws {
        let world = BackgroundWorld(attached: true)
        world.session.uploadTask(withResumeData: Data("no resume data".utf8)).resume()
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed \(URLError.Code.cannotDecodeRawData.rawValue)")
        let list: [String: Any] = [
            "LoadingKitUploadResumeDataVersion": 1, "URL": TransferRecord.url.absoluteString, "Method": "POST",
            "UploadResource": TransferRecord.url.absoluteString, "Body": Data("body".utf8),
        ]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        let task = world.session.uploadTask(withResumeData: data)
        task.resume()
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed \(URLError.Code.resourceUnavailable.rawValue)")
        #expect(world.begun.isEmpty)
        #expect(task.state == .completed)
        world.finish()
    }

    /// The performer of transfers does not know the session's identifier of the user whom a URL names. HSTS may have
    /// changed the URL of its requests.
    @Test(arguments: [TransferRecord.Kind.download, .upload], [false, true])
    func resumeDataHasTheUserOfTheURL(kind: TransferRecord.Kind, isSecured: Bool) async throws {
        let world = BackgroundWorld(attached: true)
        let url = try #require(URL(string: "http://user:secret@127.0.0.1/one"))
        let performed = try #require(isSecured ? url.withHTTPS : url)
        var (request, error) = (URLRequest(url: url), TransferError(.timedOut, "it failed"))
        let task: URLSessionTask
        switch kind {
        case .download:
            let response = HTTPURLResponse(
                url: performed, statusCode: 200, httpVersion: nil, headerFields: ["ETag": "\"a\""])
            error.resumeData =
                ResumeData(
                    URLRequest(url: performed), response, .assumed, firstURL: nil,
                    fileName: DownloadFolder.newName(), count: 5)?.encoded
            task = world.session.downloadTask(with: request)
        case .upload:
            let file = URL(fileURLWithPath: try world.file("body"))
            request.httpMethod = "PUT"
            request.bodyFile = try BodyFile(file).measured()
            error.uploadResumeData = UploadResumption(request, goingOnAt: performed.withoutCredentials).resumeData
            task = world.session.uploadTask(with: request, fromFile: file)
        }
        task.resume()
        world.send(.ended(task.taskIdentifier, TransferStatus(error: error)))
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed \(URLError.Code.timedOut.rawValue)")
        let failure = try #require(task.error as? URLError)
        let data = try #require(failure.downloadTaskResumeData ?? failure.uploadTaskResumeData)
        #expect(data.range(of: Data("secret".utf8)) == nil)
        let next: URLSessionTask =
            kind == .download
            ? world.session.downloadTask(withResumeData: data) : world.session.uploadTask(withResumeData: data)
        #expect(next.originalRequest?.url == performed)
        world.finish()
    }

    /// A part of an end is taken when the delegate's method has returned, and not before.
    @Test func eachPartOfAnEndIsTakenWhenTheDelegateHasReturned() async throws {
        let world = BackgroundWorld(attached: true)
        let task = world.session.downloadTask(with: TransferRecord.url)
        task.resume()
        let file = try world.file("content")
        let gate = world.delegate.holdNextCall()
        world.send(.ended(task.taskIdentifier, .success(file: file)))
        #expect(await world.next() == "finished content")
        #expect(world.taken.isEmpty)
        gate.signal()
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed")
        #expect(await world.takenParts(3) == [.content, .metrics, .completion])
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(task.state == .completed && task.error == nil)
        #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
        world.finish()
    }

    struct Redelivery: Sendable, CustomTestStringConvertible {
        var next: TransferStatus.Part
        var hasFile: Bool
        var calls: [String]
        var taken: [TransferStatus.Part]
        var testDescription: String { "from \(next), file: \(hasFile)" }
    }

    /// What the program took in an earlier run is not reported again; nor is a file that it has moved away.
    @Test(arguments: [
        Redelivery(
            next: .content, hasFile: true, calls: ["finished body", "metrics", "completed", "all events"],
            taken: [.content, .metrics, .completion]),
        Redelivery(
            next: .content, hasFile: false, calls: ["metrics", "completed", "all events"],
            taken: [.content, .metrics, .completion]),
        Redelivery(
            next: .metrics, hasFile: false, calls: ["metrics", "completed", "all events"],
            taken: [.metrics, .completion]),
        Redelivery(next: .completion, hasFile: false, calls: ["completed", "all events"], taken: [.completion]),
    ])
    func anEarlierEndIsReportedFromWhereItWasLeft(_ redelivery: Redelivery) async throws {
        let world = BackgroundWorld()
        let file = try world.file("body")
        if !redelivery.hasFile { try FileManager.default.removeItem(atPath: file) }
        var end = TransferStatus.success(file: file)
        end.next = redelivery.next
        world.send(.attached(SessionState(nextIdentifier: 9, transfers: [.download(4)])))
        world.send(.ended(4, end))
        world.send(.deliveredEarlierEvents)
        for call in redelivery.calls { #expect(await world.next() == call) }
        #expect(await world.takenParts(redelivery.taken.count) == redelivery.taken)
        // It was given out again, as what was taken was not noted yet.
        world.send(.ended(4, end))
        #expect(await world.session.allTasks.isEmpty)
        world.finish()
    }

    /// The file may be there although it cannot be reached: a task that succeeded without it would have lost it.
    @Test(arguments: [TransferRecord.Kind.download, .upload], [true, false])
    func aFileThatCannotBeReachedFailsTheTask(kind: TransferRecord.Kind, hasFolder: Bool) async throws {
        let world = BackgroundWorld()
        // A file in the place of the folder, or nothing.
        let folder = hasFolder ? try world.file("no folder") : "/nowhere/at"
        let transfer: TransferRecord = kind == .download ? .download(4) : .upload(4)
        world.send(.attached(SessionState(nextIdentifier: 9, transfers: [transfer])))
        world.send(.ended(4, .success(file: "\(folder)/all")))
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed \(URLError.Code.cannotOpenFile.rawValue)")
        #expect(await world.takenParts(2) == [.metrics, .completion])
        world.finish()
    }

    /// The daemon was started anew. The end waits, as the delegate has been called for the task. Nothing waits for the end of
    /// a task that is suspended.
    @Test(arguments: [false, true]) func allEventsAreReportedAfterTheEndsThatWait(isSuspended: Bool) async throws {
        let world = BackgroundWorld(attached: true)
        let task = world.session.downloadTask(with: TransferRecord.url)
        task.resume()
        var progress = TransferProgress()
        progress.received = 5
        world.send(.progress(1, progress))
        #expect(await world.next() == "wrote 5 5 of -1")
        if isSuspended { task.suspend() }
        world.send(.attached(SessionState(nextIdentifier: 2, transfers: [.download(1)])))
        world.send(.ended(1, .success(file: try world.file("content"))))
        world.send(.deliveredEarlierEvents)
        if isSuspended {
            #expect(await world.next() == "all events")
            task.resume()
        }
        for call in ["finished content", "metrics", "completed"] { #expect(await world.next() == call) }
        if !isSuspended { #expect(await world.next() == "all events") }
        world.finish()
    }

    /// One of two tasks is suspended: the end of the other one is awaited, whichever came last.
    @Test(arguments: [1, 2]) func allEventsComeAfterTheEndsOfTasksThatGoOn(suspended: Int) async throws {
        let world = BackgroundWorld(attached: true)
        let tasks = (0..<2).map { _ in world.session.downloadTask(with: TransferRecord.url) }
        for task in tasks { task.resume() }
        var progress = TransferProgress()
        progress.received = 5
        world.send(.progress(1, progress))
        #expect(await world.next() == "wrote 5 5 of -1")
        // The delegate is called no more before all events are there.
        let gate = world.delegate.holdNextCall()
        world.send(.progress(2, progress))
        #expect(await world.next() == "wrote 5 5 of -1")
        let task = try #require(tasks.first { $0.taskIdentifier == suspended })
        task.suspend()
        world.send(.attached(SessionState(nextIdentifier: 3, transfers: [.download(1), .download(2)])))
        for number in 1...2 { world.send(.ended(number, .success(file: try world.file("content \(number)")))) }
        world.send(.deliveredEarlierEvents)
        await withCheckedContinuation { done in world.session.core.loop.execute { done.resume() } }
        gate.signal()
        let calls = ["finished content \(3 - suspended)", "metrics", "completed", "all events"]
        for call in calls { #expect(await world.next() == call) }
        task.resume()
        for call in ["finished content \(suspended)", "metrics", "completed"] { #expect(await world.next() == call) }
        world.finish()
    }

    @Test func withoutEarlierEndsNothingIsReported() async throws {
        let world = BackgroundWorld(attached: true)
        world.send(.deliveredEarlierEvents)
        let task = world.session.downloadTask(with: TransferRecord.url)
        task.resume()
        world.send(.ended(task.taskIdentifier, .failure(.timedOut)))
        world.send(.deliveredEarlierEvents)
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed -1001")
        world.finish()
    }

    @Test func theBodyOfAnUploadsResponseComesInOnePiece() async throws {
        let world = BackgroundWorld(attached: true)
        let body = URL(fileURLWithPath: try world.file("what is sent"))
        let task = world.session.uploadTask(with: URLRequest(url: TransferRecord.url), fromFile: body)
        task.resume()
        #expect(world.begun.first?.uploadFile == body.path)
        #expect(world.transfers.descriptorContents == ["what is sent"])
        var progress = TransferProgress()
        (progress.sent, progress.expectedToSend) = (12, 12)
        world.send(.progress(task.taskIdentifier, progress))
        #expect(await world.next() == "sent 12 12 of 12")
        world.send(.ended(task.taskIdentifier, .success(file: try world.file("answer"))))
        #expect(await world.next() == "data answer")
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed")
        world.finish()
    }

    /// Without an error the upload would look like one whose response has no body. A folder cannot be read as a file.
    @Test func aResponseBodyThatCannotBeReadFailsTheUpload() async throws {
        let world = BackgroundWorld(attached: true)
        let body = URL(fileURLWithPath: try world.file("what is sent"))
        let task = world.session.uploadTask(with: URLRequest(url: TransferRecord.url), fromFile: body)
        task.resume()
        let folder = body.deletingLastPathComponent().path
        world.send(.ended(task.taskIdentifier, .success(file: folder)))
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed \(URLError.Code.cannotOpenFile.rawValue)")
        #expect(await world.takenParts(2) == [.metrics, .completion])
        world.finish()
    }

    @Test func whatTheProgramDoesToATaskIsPassedOn() async throws {
        let world = BackgroundWorld(attached: true)
        let task = world.session.downloadTask(with: TransferRecord.url)
        task.resume()
        task.suspend()
        #expect(await world.command() == "suspend 1")
        task.resume()
        #expect(await world.command() == "resume 1")
        task.priority = 1
        #expect(await world.command() == "change 1 1.0")
        // What performs transfers was started anew.
        task.suspend()
        #expect(await world.command() == "suspend 1")
        world.send(.attached(SessionState(nextIdentifier: 2, transfers: [.download(1)])))
        #expect(await world.command() == "suspend 1")
        task.cancel()
        #expect(await world.command() == "cancel 1")
        world.send(.ended(1, .failure(.cancelled)))
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed -999")
        world.finish()
    }

    /// Only a reset empties the stores, also those of what performs transfers.
    @Test func aFlushIsNotAReset() async throws {
        let world = BackgroundWorld(attached: true)
        await world.session.flush()
        #expect(await world.command() == "flush")
        await world.session.reset()
        #expect(await world.command() == "reset")
        world.finish()
    }

    @Test func resumeDataComesFromWhatPerformsTheTransfer() async throws {
        let world = BackgroundWorld(attached: true)
        let task = world.session.downloadTask(with: TransferRecord.url)
        task.resume()
        async let data = task.cancelByProducingResumeData()
        #expect(await world.command() == "cancel 1 for data")
        var end = TransferStatus.failure(.cancelled)
        end.error?.resumeData = Data("rest".utf8)
        world.send(.ended(1, end))
        #expect(await data == Data("rest".utf8))
        world.finish()
    }

    /// What performs the transfer may not say which URL has failed.
    @Test(arguments: [nil, "http://127.0.0.1/two"] as [String?])
    func anErrorHasTheURLThatFailed(_ url: String?) async throws {
        let world = BackgroundWorld(attached: true)
        let task = world.session.downloadTask(with: TransferRecord.url)
        task.resume()
        world.send(.ended(1, TransferStatus(error: TransferError(.timedOut, "it failed", url: url))))
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed -1001")
        let error = try #require(task.error as? URLError)
        let expected = url ?? TransferRecord.url.absoluteString
        #expect(error.failingURL?.absoluteString == expected && error.localizedDescription == "it failed")
        #expect(error.userInfo["NSErrorFailingURLStringKey"] as? String == expected)
        world.finish()
    }

    @Test func progressIsReported() async throws {
        let world = BackgroundWorld(attached: true)
        let task = world.session.downloadTask(with: TransferRecord.url)
        task.resume()
        for received in [10, 10, 30] as [Int64] {
            var progress = TransferProgress()
            (progress.received, progress.expectedToReceive) = (received, 50)
            world.send(.progress(1, progress))
        }
        #expect(await world.next() == "wrote 10 10 of 50")
        #expect(await world.next() == "wrote 20 30 of 50")
        world.send(.didResume(1, offset: 20, expected: 50))
        #expect(await world.next() == "resumed 20 of 50")
        world.send(.ended(1, .failure(.timedOut)))
        #expect(await world.next() == "metrics")
        world.finish()
    }

    @Test func whatComesEarlyIsReported() async throws {
        let world = BackgroundWorld(attached: true)
        var progress = TransferProgress()
        progress.received = 5
        world.transfers.sayEarly(.progress(1, progress))
        world.session.downloadTask(with: TransferRecord.url).resume()
        #expect(await world.next() == "wrote 5 5 of -1")
        world.finish()
    }

    /// The delegate decides about a task whose date has come. The URL of its request is the task's first.
    @Test(arguments: [
        (URLSession.DelayedRequestDisposition.continueLoading, "begin 1 http://127.0.0.1/one"),
        (.useNewRequest, "begin 1 http://127.0.0.1/other"), (.cancel, "cancel 1"),
    ])
    func theDelegateDecidesWhenADateHasCome(
        _ disposition: URLSession.DelayedRequestDisposition, _ command: String
    ) async throws {
        let world = BackgroundWorld(attached: true)
        world.delegate.beginning.withLock { $0 = disposition }
        let task = world.session.downloadTask(with: TransferRecord.url)
        task.resume()
        world.send(.willBegin(1))
        #expect(await world.command() == command)
        #expect(task.firstURL?.path == (disposition == .useNewRequest ? "/other" : "/one"))
        world.finish()
    }

    /// Nothing comes of the delegate's second answer, neither a command nor another request of the task.
    @Test(arguments: [URLSession.DelayedRequestDisposition.continueLoading, .useNewRequest, .cancel])
    func theFirstAnswerCounts(_ second: URLSession.DelayedRequestDisposition) async throws {
        let world = BackgroundWorld(attached: true)
        world.delegate.secondBeginning.withLock { $0 = second }
        let task = world.session.downloadTask(with: TransferRecord.url)
        task.resume()
        world.send(.willBegin(1))
        #expect(await world.next() == "answered twice")
        #expect(await world.command() == "begin 1 http://127.0.0.1/one")
        task.suspend()
        #expect(await world.command() == "suspend 1")
        #expect(task.currentRequest?.url == TransferRecord.url && task.firstURL == TransferRecord.url)
        world.finish()
    }

    struct RefusedRequest: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: URLError.Code
        let change: @Sendable (inout URLRequest) -> Void
    }

    /// What a task may not begin with it may not go on with, either. Its transfer ends, too.
    @Test(arguments: [
        RefusedRequest(testDescription: "a stream", code: .requestBodyStreamExhausted) {
            $0.httpBodyStream = InputStream(data: Data(count: 1))
        },
        RefusedRequest(testDescription: "ftp", code: .unsupportedURL) { $0.url = URL(string: "ftp://127.0.0.1/other") },
        RefusedRequest(testDescription: "no URL", code: .badURL) { $0.url = nil },
        RefusedRequest(testDescription: "a long body", code: .dataLengthExceedsMaximum) {
            $0.httpBody = Data(count: BackgroundRules.longestBody + 1)
        },
    ])
    func aNewRequestIsUnderTheRulesOfTheFirst(_ row: RefusedRequest) async throws {
        let world = BackgroundWorld(attached: true)
        var request = URLRequest(url: TransferRecord.url)
        row.change(&request)
        world.delegate.newRequest.withLock { [request] in $0 = request }
        world.delegate.beginning.withLock { $0 = .useNewRequest }
        let task = world.session.downloadTask(with: TransferRecord.url)
        task.resume()
        world.send(.willBegin(1))
        #expect(await world.command() == "cancel 1")
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed \(row.code.rawValue)")
        #expect(await world.takenParts(2) == [.metrics, .completion])
        #expect(task.currentRequest?.url == TransferRecord.url && task.currentRequest?.httpBody == nil)
        world.finish()
    }

    @Test func aChallengeReachesTheDelegate() async throws {
        let world = BackgroundWorld(attached: true)
        world.session.downloadTask(with: TransferRecord.url).resume()
        let space = URLProtectionSpace(
            host: "127.0.0.1", port: 80, protocol: "http", realm: "here", authenticationMethod: nil)
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 2, failureResponse: nil, error: nil)
        world.send(.challenge(1, challenge: 4, TransferChallenge(challenge)))
        #expect(await world.next() == "challenge here 2")
        #expect(await world.command() == "answer 1 4 0 user secret")
        world.finish()
    }

    /// A credential that trusts one server's certificates does not trust another's.
    @Test func aCredentialTrustsItsOwnServerAlone() async throws {
        let chains = try (0..<2).map { _ in
            [try X509Certificate(derRepresentation: Data(try CertificateAuthority().certificateDER()))]
        }
        for (index, isTrusted) in [(0, true), (1, false)] {
            let world = BackgroundWorld(attached: true)
            world.delegate.trusted.withLock { $0 = ServerTrust(certificates: chains[0], host: "127.0.0.1") }
            world.session.downloadTask(with: TransferRecord.url).resume()
            let space = URLProtectionSpace(
                tlsHost: "127.0.0.1", port: 443,
                serverTrust: ServerTrust(certificates: chains[index], host: "127.0.0.1"))
            let challenge = URLAuthenticationChallenge(
                protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil,
                error: nil)
            world.send(.challenge(1, challenge: 4, TransferChallenge(challenge)))
            #expect(await world.next() == "challenge  0")
            #expect(await world.command() == "answer 1 4 0 \(isTrusted ? " trusts" : "")")
            world.finish()
        }
    }

    /// A file of authorities may be a pipe, whose writer the session would wait for.
    @Test func aPipeHasNoAuthorities() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.file("pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        let chain = [try X509Certificate(derRepresentation: Data(try CertificateAuthority().certificateDER()))]
        let challenge = URLAuthenticationChallenge(
            protectionSpace: URLProtectionSpace(
                tlsHost: "127.0.0.1", port: 443, serverTrust: ServerTrust(certificates: chain, host: "127.0.0.1")),
            proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil)
        var settings = SessionSettings()
        settings.trustRoots = .file(path: pipe)
        let trust = TransferChallenge(challenge).challenge(settings).protectionSpace.serverTrust
        #expect(trust?.anchorCertificates == [])
    }

    /// A program that compares a certificate, and leaves the rest to the default rules, has decided.
    @Test func anAnswerSaysWhetherADelegateGaveIt() async throws {
        let challenge = URLAuthenticationChallenge(
            protectionSpace: URLProtectionSpace(
                tlsHost: "127.0.0.1", port: 443,
                serverTrust: ServerTrust(
                    certificates: [
                        try X509Certificate(derRepresentation: Data(try CertificateAuthority().certificateDER()))
                    ],
                    host: "127.0.0.1")),
            proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil)
        let delegates: [(any URLSessionTaskDelegate, Bool)] = [
            (PinningDelegate(), true), (PinningTaskDelegate(), true), (UnaskedDelegate(), false),
        ]
        for (delegate, isFromDelegate) in delegates {
            let (configuration, transfers) = (URLSessionConfiguration(settings: SessionSettings()), StandInTransfers())
            configuration.settings.makeBackground = BackgroundSession.maker { settings in
                transfers.channels(
                    for: try SessionDescription(settings, identifier: "test", program: "test", storeFolder: nil))
            }
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            transfers.send(.attached(SessionState(nextIdentifier: 1, transfers: [])))
            session.downloadTask(with: TransferRecord.url).resume()
            transfers.send(.challenge(1, challenge: 4, TransferChallenge(challenge)))
            var commands = transfers.log.makeAsyncIterator()
            #expect(await commands.next() == "answer 1 4 1 \(isFromDelegate ? "" : " by default")")
            transfers.send(.detached(TransferError(.backgroundSessionWasDisconnected, "the test is over")))
        }
    }

    /// The session ends when its tasks are over. What performs transfers learns of that before the delegate, which may make a
    /// session of the same identifier.
    @Test func aSessionEndsAfterItsTasks() async throws {
        let world = BackgroundWorld()
        world.session.finishTasksAndInvalidate()
        world.send(.attached(SessionState(nextIdentifier: 9, transfers: [.download(4)])))
        world.send(.ended(4, .success(file: try world.file("content"))))
        for call in ["finished content", "metrics", "completed", "invalid"] { #expect(await world.next() == call) }
        #expect(await world.command() == "end")
        #expect(await world.command() == "detached")
        #expect(world.taken.last == .completion)
    }

    @Test func aCancelledSessionCancelsWhatItFinds() async throws {
        let world = BackgroundWorld()
        world.session.invalidateAndCancel()
        world.send(.attached(SessionState(nextIdentifier: 9, transfers: [.download(4)])))
        #expect(await world.command() == "cancel 4")
        world.send(.ended(4, .failure(.cancelled)))
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed -999")
        #expect(await world.next() == "invalid")
    }

    @Test func aSessionThatIsRefusedEndsWithAnError() async throws {
        let world = BackgroundWorld()
        world.send(.detached(TransferError(.backgroundSessionInUseByAnotherProcess, "it is in use")))
        #expect(await world.next() == "invalid -996")
        let task = world.session.downloadTask(with: TransferRecord.url)
        task.resume()
        #expect(world.begun.isEmpty)
    }

    @Test func aSessionThatLosesItsTransfersEndsWithAnError() async throws {
        let world = BackgroundWorld(attached: true)
        world.session.downloadTask(with: TransferRecord.url).resume()
        world.send(.detached(TransferError(.backgroundSessionWasDisconnected, "it is gone")))
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed -997")
        #expect(await world.next() == "invalid -997")
    }

    /// No task stays `running` without a callback: one of a session that is over has no delegate but its own.
    @Test(arguments: [false, true]) func aTaskOfASessionThatIsOverEnds(_ isRefused: Bool) async throws {
        // A task is made when it is known whether the session is attached.
        let world = BackgroundWorld(attached: true)
        let task = world.session.downloadTask(with: TransferRecord.url)
        let own = BackgroundDelegate()
        var calls = own.calls.makeAsyncIterator()
        task.delegate = own
        if isRefused {
            world.send(.detached(TransferError(.backgroundSessionWasDisconnected, "it is gone")))
        } else {
            world.session.invalidateAndCancel()
        }
        while let call = await calls.next(), !call.hasPrefix("completed") {}
        #expect(await world.next()?.hasPrefix("invalid") == true)
        let late = world.session.downloadTask(with: TransferRecord.url)
        late.delegate = own
        late.resume()
        while let call = await calls.next(), !call.hasPrefix("completed") {}
        // What was handed over of it is cancelled when that is known.
        #expect(late.state == .completed)
    }

    /// Events may come for a session that the program does not hold.
    @Test func aSessionLivesUntilItIsInvalidated() async throws {
        let world = BackgroundWorld(attached: true)
        weak let session = world.session
        world.letGoOfSession()
        #expect(session != nil)
        world.send(.detached(TransferError(.backgroundSessionWasDisconnected, "it is gone")))
        #expect(await world.next() == "invalid -997")
        #expect(await world.command() == "detached")
    }

    @Test func aDataTaskRunsInTheProgram() async throws {
        let world = BackgroundWorld(attached: true)
        let url = try #require(URL(string: "none:"))
        world.session.dataTask(with: url).resume()
        // No scheme is registered: what matters is that it was tried here.
        #expect(await world.next() == "metrics")
        #expect(await world.next() == "completed -1002")
        #expect(world.begun.isEmpty)
        world.finish()
    }
}

private final class PinningDelegate: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) { (.performDefaultHandling, nil) }
}

private final class PinningTaskDelegate: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) { completionHandler(.performDefaultHandling, nil) }
}

private final class UnaskedDelegate: NSObject, URLSessionTaskDelegate {}
