extension Behaviour {
    private static func makeSession(_ notes: Notes) -> URLSession {
        URLSession(configuration: Site.configuration(), delegate: notes, delegateQueue: nil)
    }

    /// By its number, since FoundationNetworking has marked the name deprecated for not working.
    private static let becomingDownload = URLSession.ResponseDisposition(rawValue: 2) ?? .allow

    static let delegates = [
        Behaviour(load: "Delegate: a plain load", "response 200, data hello, complete ok") { site in
            await site.events(try site.request("/hello")) { $0.dataTask(with: $1) }
        },
        Behaviour(load: "Delegate: metrics come just before the completion", "response, data, metrics, complete") {
            site in
            let notes = Notes(notesMetrics: true)
            let events = await site.events(try site.request("/hello"), notes) { $0.dataTask(with: $1) }
            return events.split(separator: ", ").map { $0.prefix { $0 != " " } }.joined(separator: ", ")
        },
        Behaviour(load: "Delegate: no body", "response 204, complete ok") { site in
            await site.events(try site.request("/status/204")) { $0.dataTask(with: $1) }
        },
        Behaviour(load: "Delegate: HEAD", "response 200, complete ok") { site in
            await site.events(try site.request("/hello", "HEAD")) { $0.dataTask(with: $1) }
        },
        Behaviour(
            load: "Delegate: a redirect that is followed",
            "redirect 302 GET /method, response 200, data GET, complete ok"
        ) { site in
            await site.events(try site.request("/redirect/302")) { $0.dataTask(with: $1) }
        },
        Behaviour(load: "Delegate: a redirect that is refused", "redirect 302 GET /method, response 302, complete ok") {
            site in
            await site.events(try site.request("/redirect/302"), Notes(follows: false)) { $0.dataTask(with: $1) }
        },
        Behaviour(load: "Delegate: a method in its asynchronous form", "redirect 302, 302") { site in
            let notes = AsynchronousNotes()
            let session = URLSession(configuration: Site.configuration(), delegate: notes, delegateQueue: nil)
            defer { session.finishTasksAndInvalidate() }
            session.dataTask(with: try site.request("/redirect/302")).resume()
            return await notes.untilEnd()
        },
        Behaviour(load: "Delegate: the response is refused", "response 200, complete URLError -999") { site in
            await site.events(try site.request("/hello"), Notes(.cancel)) { $0.dataTask(with: $1) }
        },
        Behaviour(load: "Delegate: becomes a download", "response 200, download, wrote 5 of 5, file hello, complete ok")
        { site in
            await site.events(try site.request("/hello"), Notes(becomingDownload)) { $0.dataTask(with: $1) }
        },
        Behaviour(
            load: "Delegate: Basic",
            "challenge 0 NSURLAuthenticationMethodHTTPBasic here, response 200, data welcome, complete ok"
        ) { site in
            let credential = URLCredential(user: "user", password: "pass", persistence: .none)
            return await site.events(try site.request("/basic"), Notes(credential: credential)) {
                $0.dataTask(with: $1)
            }
        },
        Behaviour(
            load: "Delegate: Basic without a credential",
            "challenge 0 NSURLAuthenticationMethodHTTPBasic here, response 401, data who?, complete ok"
        ) { site in
            await site.events(try site.request("/basic")) { $0.dataTask(with: $1) }
        },
        Behaviour(load: "Delegate: a connection that is refused", "complete URLError -1004") { site in
            site.stop()
            return await site.events(try site.request("/hello")) { $0.dataTask(with: $1) }
        },
        Behaviour(load: "Delegate: cancelled before the response", "complete URLError -999") { site in
            let notes = Notes()
            let session = makeSession(notes)
            defer { session.finishTasksAndInvalidate() }
            let task = session.dataTask(with: try site.url("/stall"))
            task.resume()
            _ = await site.server.requests.count(reaches: 1)
            task.cancel()
            return await notes.untilEnd()
        },
        Behaviour(load: "Delegate: cancelled during the body", "response 200, data first, complete URLError -999") {
            site in
            let notes = Notes()
            let session = makeSession(notes)
            defer { session.finishTasksAndInvalidate() }
            let task = session.dataTask(with: try site.url("/half"))
            task.resume()
            _ = await notes.until { $0.hasPrefix("data") }
            task.cancel()
            return await notes.untilEnd()
        },
        Behaviour(load: "Delegate: a completion handler takes the place of its data calls", "handler hello; ") { site in
            let notes = Notes()
            let session = makeSession(notes)
            defer { session.finishTasksAndInvalidate() }
            let request = try site.request("/hello")
            let text = await withCheckedContinuation { continuation in
                session.dataTask(with: request) { data, _, _ in continuation.resume(returning: shown(data)) }.resume()
            }
            return "handler \(text); \(notes.events.snapshot.joined(separator: ", "))"
        },
        Behaviour(load: "Delegate: invalidated", "response 200, data hello, complete ok, invalid ok") { site in
            let notes = Notes()
            let session = makeSession(notes)
            session.dataTask(with: try site.url("/hello")).resume()
            session.finishTasksAndInvalidate()
            return await notes.until { $0.hasPrefix("invalid") }
        },
        Behaviour(load: "Delegate: invalidated and cancelled", "complete URLError -999, invalid ok") { site in
            let notes = Notes()
            let session = makeSession(notes)
            session.dataTask(with: try site.url("/stall")).resume()
            _ = await site.server.requests.count(reaches: 1)
            session.invalidateAndCancel()
            return await notes.until { $0.hasPrefix("invalid") }
        },
    ]
}
