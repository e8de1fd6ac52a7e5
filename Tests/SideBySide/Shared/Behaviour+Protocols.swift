/// What `SampleProtocol` does, which each target declares for itself: a subclass of `URLProtocol` is `Sendable` in one,
/// and may not be in the other.
enum Sample {
    static func canLoad(_ request: URLRequest) -> Bool {
        request.url?.scheme == "sample" || request.value(forHTTPHeaderField: "X-Sample") != nil
    }

    static func canonical(_ request: URLRequest) -> URLRequest {
        var request = request
        request.setValue("canonical", forHTTPHeaderField: "X-A")
        return request
    }

    /// Answers as the URL's path says.
    static func load(_ loader: URLProtocol) {
        let request = loader.request
        switch request.url?.path {
        case "/fail": loader.client?.urlProtocol(loader, didFailWithError: URLError(.cannotFindHost))
        case "/pieces": answer(loader, ["one ", "two ", "three"])
        case "/empty": answer(loader, [])
        case "/fields": answer(loader, [shown(request.value(forHTTPHeaderField: "X-A"))])
        case "/task": answer(loader, ["\(loader.task != nil) \(loader.cachedResponse != nil)"])
        case "/forever": respond(loader)
        case "/redirect": redirect(loader)
        case "/cached": answerFromCache(loader)
        case "/twice":
            answer(loader, ["once"])
            answer(loader, ["again"])
        case "/failed-late":
            respond(loader)
            loader.client?.urlProtocol(loader, didLoad: Data("some".utf8))
            loader.client?.urlProtocol(loader, didFailWithError: URLError(.networkConnectionLost))
        default: answer(loader, ["sample"])
        }
    }

    private static func respond(_ loader: URLProtocol) {
        guard let url = loader.request.url else { return }
        let response = HTTPURLResponse(url: url, statusCode: 203, httpVersion: nil, headerFields: ["X-Sample": "yes"])
        if let response { loader.client?.urlProtocol(loader, didReceive: response, cacheStoragePolicy: .notAllowed) }
    }

    private static func redirect(_ loader: URLProtocol) {
        guard let url = loader.request.url, let target = URL(string: "sample://host/") else { return }
        let response = HTTPURLResponse(
            url: url, statusCode: 302, httpVersion: nil, headerFields: ["Location": target.absoluteString])
        guard let response else { return }
        loader.client?.urlProtocol(loader, wasRedirectedTo: URLRequest(url: target), redirectResponse: response)
    }

    private static func answerFromCache(_ loader: URLProtocol) {
        guard let url = loader.request.url else { return }
        let response = HTTPURLResponse(url: url, statusCode: 203, httpVersion: nil, headerFields: nil)
        guard let response else { return }
        loader.client?.urlProtocol(
            loader, cachedResponseIsValid: CachedURLResponse(response: response, data: Data("kept".utf8)))
    }

    private static func answer(_ loader: URLProtocol, _ pieces: [String]) {
        respond(loader)
        for piece in pieces { loader.client?.urlProtocol(loader, didLoad: Data(piece.utf8)) }
        loader.client?.urlProtocolDidFinishLoading(loader)
    }
}

extension Behaviour {
    private static func outcome(
        _ site: Site, _ path: String
    ) async throws -> String {
        await site.outcome(URLRequest(url: try url("sample://host\(path)"))) {
            $0.protocolClasses = [SampleProtocol.self]
        }
    }

    static let protocols = [
        Behaviour(load: "URLProtocol: a response, data and the end", "203 sample") { try await outcome($0, "/") },
        Behaviour(load: "URLProtocol: pieces are joined", "203 one two three") { try await outcome($0, "/pieces") },
        Behaviour(load: "URLProtocol: an empty body", "203 ") { try await outcome($0, "/empty") },
        Behaviour(load: "URLProtocol: an error is the task's", "URLError -1003") { try await outcome($0, "/fail") },
        Behaviour(load: "URLProtocol: what it knows of its task", "203 true false") { try await outcome($0, "/task") },
        Behaviour(load: "URLProtocol: the canonical request is loaded", "203 canonical") {
            try await outcome($0, "/fields")
        },
        Behaviour(load: "URLProtocol: a class of the configuration wins over the built-in ones", "203 sample") { site in
            var request = try site.request("/hello")
            request.setValue("1", forHTTPHeaderField: "X-Sample")
            return await site.outcome(request) { $0.protocolClasses = [SampleProtocol.self] }
        },
        Behaviour(load: "URLProtocol: no class for a scheme", "URLError -1002") { site in
            await site.outcome(URLRequest(url: try url("nobody://host/")))
        },
        Behaviour(load: "URLProtocol: delegate's order", "response 203, data sample, complete ok") { site in
            let notes = Notes()
            let configuration = Site.configuration()
            configuration.protocolClasses = [SampleProtocol.self]
            let session = URLSession(configuration: configuration, delegate: notes, delegateQueue: nil)
            defer { session.finishTasksAndInvalidate() }
            session.dataTask(with: try url("sample://host/")).resume()
            return await notes.untilEnd()
        },
        Behaviour(load: "URLProtocol: cancelled", "response 203, complete URLError -999") { site in
            let notes = Notes()
            let configuration = Site.configuration()
            configuration.protocolClasses = [SampleProtocol.self]
            let session = URLSession(configuration: configuration, delegate: notes, delegateQueue: nil)
            defer { session.finishTasksAndInvalidate() }
            let task = session.dataTask(with: try url("sample://host/forever"))
            task.resume()
            _ = await notes.until { $0.hasPrefix("response") }
            task.cancel()
            return await notes.untilEnd()
        },
        Behaviour("URLProtocol: properties of requests", "1 nil") {
            let request = NSMutableURLRequest(url: try url("sample://host/"))
            URLProtocol.setProperty("1", forKey: "key", in: request)
            let before = URLProtocol.property(
                forKey: "key", in: URLRequest._unconditionallyBridgeFromObjectiveC(request))
            URLProtocol.removeProperty(forKey: "key", in: request)
            let after = URLProtocol.property(
                forKey: "key", in: URLRequest._unconditionallyBridgeFromObjectiveC(request))
            return "\(shown(before)) \(shown(after))"
        },
        Behaviour("URLProtocol: registered and forgotten", "true") {
            let isTaken = URLProtocol.registerClass(SampleProtocol.self)
            URLProtocol.unregisterClass(SampleProtocol.self)
            return "\(isTaken)"
        },
        Behaviour("URLProtocol: equivalent requests", "true false") {
            let (one, other) = (URLRequest(url: try url("sample://a/")), URLRequest(url: try url("sample://b/")))
            return "\(SampleProtocol.requestIsCacheEquivalent(one, to: one)) "
                + "\(SampleProtocol.requestIsCacheEquivalent(one, to: other))"
        },
    ]
}
