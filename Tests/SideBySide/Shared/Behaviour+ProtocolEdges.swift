/// The rest of `URLProtocol`'s own methods.
extension Behaviour {
    private static func events(_ path: String, _ notes: Notes = Notes()) async throws -> String {
        let configuration = Site.configuration()
        configuration.protocolClasses = [SampleProtocol.self]
        let session = URLSession(configuration: configuration, delegate: notes, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        session.dataTask(with: try url("sample://host\(path)")).resume()
        return await notes.untilEnd()
    }

    static let protocolEdges = [
        Behaviour("URLProtocol: no property at first", "nil") {
            shown(URLProtocol.property(forKey: "key", in: URLRequest(url: try url("sample://host/"))))
        },
        Behaviour("URLProtocol: a property of an empty name", "1") {
            let request = NSMutableURLRequest(url: try url("sample://host/"))
            URLProtocol.setProperty(1, forKey: "", in: request)
            return shown(URLProtocol.property(forKey: "", in: URLRequest._unconditionallyBridgeFromObjectiveC(request)))
        },
        Behaviour("URLProtocol: a property that is set again", "2") {
            let request = NSMutableURLRequest(url: try url("sample://host/"))
            URLProtocol.setProperty(1, forKey: "key", in: request)
            URLProtocol.setProperty(2, forKey: "key", in: request)
            return shown(
                URLProtocol.property(forKey: "key", in: URLRequest._unconditionallyBridgeFromObjectiveC(request)))
        },
        Behaviour("URLProtocol: removing a property that is not there", "nil") {
            let request = NSMutableURLRequest(url: try url("sample://host/"))
            URLProtocol.removeProperty(forKey: "key", in: request)
            return shown(
                URLProtocol.property(forKey: "key", in: URLRequest._unconditionallyBridgeFromObjectiveC(request)))
        },
        Behaviour("URLProtocol: what an instance is made with", "sample://host/ data true") {
            let request = URLRequest(url: try url("sample://host/"))
            let response = URLResponse(
                url: try url("sample://host/"), mimeType: nil, expectedContentLength: 4, textEncodingName: nil)
            let cached = CachedURLResponse(response: response, data: Data("data".utf8))
            let loader = SampleProtocol(request: request, cachedResponse: cached, client: nil)
            return "\(shown(loader.request.url)) \(shown(loader.cachedResponse?.data)) \(loader.client == nil)"
        },
        Behaviour("URLProtocol: what a class says of requests", "true false") {
            "\(SampleProtocol.canInit(with: URLRequest(url: try url("sample://host/")))) "
                + "\(SampleProtocol.canInit(with: URLRequest(url: try url("http://host/"))))"
        },
        Behaviour("URLProtocol: what a class says of tasks", "true") {
            let session = URLSession(configuration: .ephemeral)
            defer { session.invalidateAndCancel() }
            return "\(SampleProtocol.canInit(with: session.dataTask(with: try url("sample://host/"))))"
        },
        Behaviour("URLProtocol: registered twice", "true true") {
            let (one, other) = (
                URLProtocol.registerClass(SampleProtocol.self), URLProtocol.registerClass(SampleProtocol.self)
            )
            URLProtocol.unregisterClass(SampleProtocol.self)
            URLProtocol.unregisterClass(SampleProtocol.self)
            return "\(one) \(other)"
        },
        Behaviour("URLProtocol: forgetting what was not registered", "done") {
            URLProtocol.unregisterClass(SampleProtocol.self)
            return "done"
        },
        Behaviour(
            load: "URLProtocol: a redirect is followed", "redirect 302 GET /, response 203, data sample, complete ok"
        ) { _ in
            try await events("/redirect")
        },
        Behaviour(load: "URLProtocol: a redirect is refused", "redirect 302 GET /, response 302, complete ok") { _ in
            try await events("/redirect", Notes(follows: false))
        },
        Behaviour(load: "URLProtocol: what is cached is valid", "response 203, data kept, complete ok") { _ in
            try await events("/cached")
        },
        Behaviour(load: "URLProtocol: what comes after the end", "response 203, data once, complete ok") { _ in
            try await events("/twice")
        },
        Behaviour(load: "URLProtocol: an error in the middle", "response 203, data some, complete URLError -1005") {
            _ in
            try await events("/failed-late")
        },
        Behaviour(load: "URLProtocol: a class put before those that there are", "203 sample") { site in
            await site.outcome(URLRequest(url: try url("sample://host/"))) {
                $0.protocolClasses?.insert(SampleProtocol.self, at: 0)
            }
        },
    ]
}
