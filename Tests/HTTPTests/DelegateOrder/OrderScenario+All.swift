import Foundation
import LoadingKit
import TestSupport

// Beside each scenario: the page of Apple's documentation that says what is told when.

extension OrderScenario {
    static let all = responses + streams + redirectsAndChallenges + cancellations + uploads + downloads + failures

    private static let responses = [
        // urlSession(_:dataTask:didReceive:completionHandler:), then urlSession(_:dataTask:didReceive:), then
        // urlSession(_:task:didFinishCollecting:) and urlSession(_:task:didCompleteWithError:): the last message.
        OrderScenario("a plain load", get: "/hello", ["response", "data", "metrics", "complete ok"]),
        // urlSession(_:dataTask:didReceive:): only where there is data.
        OrderScenario("a response without a body", get: "/empty", ["response", "metrics", "complete ok"]),
        // HEAD has a response without a body (RFC 9110 §9.3.2).
        OrderScenario("HEAD", ["response", "metrics", "complete ok"]) {
            $0.session.dataTask(with: try $0.request("/hello", "HEAD")).resume()
        },
        // urlSession(_:task:didReceiveInformationalResponse:): before the response.
        OrderScenario(
            "an informational response", get: "/early",
            ["informational", "response", "data", "metrics", "complete ok"]),
        // urlSession(_:dataTask:willCacheResponse:completionHandler:): after all data, before the completion.
        OrderScenario(
            "a response that is stored", get: "/fresh", ["response", "data", "cache", "metrics", "complete ok"],
            configure: { $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil) }),
        // The same page: not called for a response that comes from the cache.
        OrderScenario(
            "a response from the cache",
            [
                "response", "data", "cache", "metrics", "complete ok", "created", "response", "data", "metrics",
                "complete ok",
            ],
            configure: { $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil) }
        ) { run in
            run.session.dataTask(with: try run.request("/fresh")).resume()
            let count = await run.recorder.events(upTo: "complete").count
            run.session.dataTask(with: try run.request("/fresh")).resume()
            _ = await run.recorder.events.count(reaches: count + 5)
        },
        // URLSession.ResponseDisposition.becomeDownload; urlSession(_:dataTask:didBecome:): no more of the data task.
        OrderScenario(
            "a data task that becomes a download", get: "/hello",
            ["response", "download", "wrote", "file", "metrics", "complete ok"], { $0.disposition = .becomeDownload }),
        // URLSessionTask.suspend(): "produces no network traffic" until resumed, and tells nothing.
        OrderScenario("a task that is suspended and resumed", ["response", "data", "metrics", "complete ok"]) { run in
            let task = run.session.dataTask(with: try run.request("/half"))
            task.resume()
            _ = await run.recorder.events(upTo: "data")
            task.suspend()
            run.release.fire()
            _ = await run.session.allTasks
            task.resume()
        },
        // URLSessionTask.earliestBeginDate; urlSession(_:task:willBeginDelayedRequest:completionHandler:).
        OrderScenario("a task with a begin date", ["delayed", "response", "data", "metrics", "complete ok"]) { run in
            let task = run.session.dataTask(with: try run.request("/hello"))
            task.earliestBeginDate = Date(timeIntervalSinceNow: 0.05)
            task.resume()
        },
        // Performing manual server trust authentication: urlSession(_:didReceive:completionHandler:), the session's.
        OrderScenario(
            "a server's certificate that the delegate judges", get: "/hello",
            ["trust", "response", "data", "metrics", "complete ok"], { $0.grantsTrust = true }),
    ]

    private static let streams = [
        // URLSession.ResponseDisposition.becomeStream; urlSession(_:dataTask:didBecome:): no more of the data task. Then
        // urlSession(_:readClosedFor:), as the body is read to its end.
        OrderScenario(
            "a data task that becomes a stream task", get: "/hello",
            ["response", "become stream", "read closed", "metrics", "complete ok"],
            {
                $0.disposition = .becomeStream
                $0.onEvent = { event, task in
                    guard event == "become stream", let task = task as? URLSessionStreamTask else { return }
                    task.readData(ofMinLength: 100, maxLength: 100, timeout: 0) { _, _, _ in }
                }
            }),
        OrderScenario(
            "a stream task that is cancelled before all is read", get: "/half",
            ["response", "become stream", "metrics", "complete -999"],
            {
                $0.disposition = .becomeStream
                $0.onEvent = { event, task in if event == "become stream" { task.cancel() } }
            }),
        // The same, after 101 (Switching Protocols): the connection is the task's. urlSession(_:writeClosedFor:).
        OrderScenario(
            "a connection that becomes a stream task's",
            ["response", "become stream", "read closed", "write closed", "metrics", "complete ok"],
            versions: ["http/1.1"],
            {
                $0.disposition = .becomeStream
                $0.onEvent = { event, task in
                    guard event == "become stream", let task = task as? URLSessionStreamTask else { return }
                    task.write(Data("done".utf8), timeout: 0) { _ in }
                    task.readData(ofMinLength: 100, maxLength: 100, timeout: 0) { _, _, _ in task.closeWrite() }
                }
            }
        ) { run in
            var request = try run.request("/switch")
            request.setValue("echo", forHTTPHeaderField: "Upgrade")
            run.session.dataTask(with: request).resume()
        },
    ]

    private static let redirectsAndChallenges = [
        // urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:): before any response.
        OrderScenario(
            "a redirect that is followed", get: "/redirect", ["redirect", "response", "data", "metrics", "complete ok"]),
        // The same page: with nil the body of the redirect is the response.
        OrderScenario(
            "a redirect that is refused", get: "/redirect", ["redirect", "response", "metrics", "complete ok"],
            { $0.followsRedirects = false }),
        // Handling an authentication challenge: of the task, before the response.
        OrderScenario(
            "Basic, with a credential", get: "/basic", ["challenge", "response", "data", "metrics", "complete ok"],
            { $0.credential = OrderServer.credential }),
        // URLSession.AuthChallengeDisposition.performDefaultHandling: without a credential the 401 is the response.
        OrderScenario(
            "Basic, without a credential", get: "/basic", ["challenge", "response", "data", "metrics", "complete ok"]),
        // URLError.httpTooManyRedirects.
        OrderScenario(
            "redirects without end", get: "/loop",
            Array(repeating: "redirect", count: 20) + ["metrics", "complete -1007"]),
    ]

    private static let cancellations = [
        // URLSessionTask.cancel(): NSURLErrorCancelled; a suspended task can be cancelled.
        OrderScenario("cancelled before it is resumed", ["metrics", "complete -999"]) { run in
            run.session.dataTask(with: try run.request("/hello")).cancel()
        },
        OrderScenario("cancelled before the response", ["metrics", "complete -999"]) { run in
            let task = run.session.dataTask(with: try run.request("/stall"))
            task.resume()
            _ = await run.server.requests.count(reaches: 1)
            task.cancel()
        },
        // URLSession.ResponseDisposition.cancel: the same as calling cancel() on the task.
        OrderScenario(
            "cancelled by the answer to the response", get: "/hello", ["response", "metrics", "complete -999"],
            { $0.disposition = .cancel }),
        OrderScenario("cancelled during the body", ["response", "data", "metrics", "complete -999"]) { run in
            let task = run.session.dataTask(with: try run.request("/half"))
            task.resume()
            _ = await run.recorder.events(upTo: "data")
            task.cancel()
        },
        OrderScenario("cancelled while it is suspended", ["response", "data", "metrics", "complete -999"]) { run in
            let task = run.session.dataTask(with: try run.request("/half"))
            task.resume()
            _ = await run.recorder.events(upTo: "data")
            task.suspend()
            task.cancel()
        },
        // URLSession.invalidateAndCancel(): cancels all tasks; then urlSession(_:didBecomeInvalidWithError:).
        OrderScenario("a session that is invalidated", ["metrics", "complete -999"]) { run in
            run.session.dataTask(with: try run.request("/stall")).resume()
            _ = await run.server.requests.count(reaches: 1)
            run.session.invalidateAndCancel()
        },
    ]

    private static let uploads = [
        // urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:): while the body is sent.
        OrderScenario("an upload of data", ["sent", "response", "data", "metrics", "complete ok"]) { run in
            run.session.uploadTask(with: try run.request("/hello", "PUT"), from: Data("body".utf8)).resume()
        },
        // urlSession(_:task:needNewBodyStream:): for the first body too, of uploadTask(withStreamedRequest:).
        OrderScenario(
            "an upload of a stream", ["stream", "sent", "response", "data", "metrics", "complete ok"],
            versions: ["h2"], { $0.streamBody = "body" }
        ) { run in run.session.uploadTask(withStreamedRequest: try run.request("/hello", "PUT")).resume() },
        // urlSession(_:task:didReceiveInformationalResponse:): HTTP/1.1 sends a stream once the server has said 100
        // (Continue), since it cannot be sent twice.
        OrderScenario(
            "an upload of a stream that the server is asked to expect",
            ["stream", "informational", "sent", "response", "data", "metrics", "complete ok"],
            versions: ["http/1.1"], isTimed: false, { $0.streamBody = "body" }
        ) { run in run.session.uploadTask(withStreamedRequest: try run.request("/hello", "PUT")).resume() },
        // needNewBodyStream again: "when a task needs a new request body stream to send", as after a redirect by 307.
        OrderScenario(
            "an upload of a stream that is sent again",
            ["stream", "sent", "redirect", "stream", "sent", "response", "data", "metrics", "complete ok"],
            versions: ["h2"], { $0.streamBody = "body" }
        ) { run in run.session.uploadTask(withStreamedRequest: try run.request("/again", "PUT")).resume() },
        OrderScenario(
            "an upload of a stream that the server is asked to expect again",
            [
                "stream", "informational", "sent", "redirect", "stream", "informational", "sent", "response", "data",
                "metrics", "complete ok",
            ],
            versions: ["http/1.1"], isTimed: false, { $0.streamBody = "body" }
        ) { run in run.session.uploadTask(withStreamedRequest: try run.request("/again", "PUT")).resume() },
    ]

    private static let downloads = [
        // urlSession(_:downloadTask:didWriteData:…), then urlSession(_:downloadTask:didFinishDownloadingTo:), then
        // the completion: no response is told.
        OrderScenario("a download", ["wrote", "file", "metrics", "complete ok"]) { run in
            run.session.downloadTask(with: try run.request("/hello")).resume()
        },
        // Pausing and resuming downloads; urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:).
        OrderScenario(
            "a download that is cancelled with resume data, and one that goes on",
            [
                "wrote", "metrics", "complete -999", "created", "resumed", "wrote", "file", "metrics", "complete ok",
            ], isTimed: false
        ) { run in
            let task = run.session.downloadTask(with: try run.request("/file"))
            task.resume()
            try await waitUntil { task.countOfBytesReceived >= 200_000 }
            _ = await run.recorder.events(upTo: "wrote")
            guard let data = await task.cancelByProducingResumeData() else { return }
            _ = await run.recorder.events(upTo: "complete -999")
            run.session.downloadTask(withResumeData: data).resume()
            _ = await run.recorder.events(upTo: "complete ok")
        },
    ]

    private static let failures = [
        // URLError.networkConnectionLost: "severed in the middle of an in-progress load".
        OrderScenario("a transfer that breaks off", ["response", "data", "metrics", "complete -1005"]) { run in
            run.session.dataTask(with: try run.request("/broken")).resume()
            _ = await run.recorder.events(upTo: "data")
            run.release.fire()
        },
        // URLSessionConfiguration.timeoutIntervalForRequest: URLError.timedOut.
        OrderScenario(
            "a server that does not answer in time", get: "/stall", ["metrics", "complete -1001"],
            configure: { $0.timeoutIntervalForRequest = 0.3 }),
        // URLSessionConfiguration.timeoutIntervalForResource: the same.
        OrderScenario(
            "a transfer that takes too long", get: "/stall", ["metrics", "complete -1001"],
            configure: { $0.timeoutIntervalForResource = 0.3 }),
    ]
}
