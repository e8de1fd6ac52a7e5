extension Behaviour {
    private static func makeFile(_ text: String) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(text.utf8).write(to: file)
        return file
    }

    static let transfers = [
        Behaviour(load: "Upload task: data", "sent 4 of 4, response 200, data body, complete ok") { site in
            await site.events(try site.request("/echo", "PUT")) { $0.uploadTask(with: $1, from: Data("body".utf8)) }
        },
        Behaviour(load: "Upload task: a file", "sent 4 of 4, response 200, data body, complete ok") { site in
            let file = try makeFile("body")
            defer { try? FileManager.default.removeItem(at: file) }
            return await site.events(try site.request("/echo", "PUT")) { $0.uploadTask(with: $1, fromFile: file) }
        },
        Behaviour(load: "Upload task: a stream", "PUT body") { site in
            _ = await site.events(try site.request("/echo", "PUT"), Notes(streamBody: "body")) {
                $0.uploadTask(withStreamedRequest: $1)
            }
            return site.server.requests.snapshot.map { "\($0.method) \($0.bodyText)" }.joined(separator: ", ")
        },
        Behaviour(load: "Upload task: the length is sent", "4 nil") { site in
            _ = await site.events(try site.request("/echo", "PUT")) { $0.uploadTask(with: $1, from: Data("body".utf8)) }
            return "\(site.sent("Content-Length")) \(site.sent("Transfer-Encoding"))"
        },
        Behaviour(load: "Upload task: the data wins over the request's body", "data") { site in
            _ = await site.events(try site.request("/echo", "PUT", body: "request")) {
                $0.uploadTask(with: $1, from: Data("data".utf8))
            }
            return site.server.requests.snapshot.map(\.bodyText).joined()
        },
        Behaviour(load: "Upload task: a completion handler", "200 body") { site in
            let session = URLSession(configuration: Site.configuration())
            defer { session.finishTasksAndInvalidate() }
            let request = try site.request("/echo", "PUT")
            return await withCheckedContinuation { continuation in
                session.uploadTask(with: request, from: Data("body".utf8)) { data, response, error in
                    continuation.resume(
                        returning: "\(shown((response as? HTTPURLResponse)?.statusCode)) \(shown(data))")
                }.resume()
            }
        },
        Behaviour(load: "Upload task: is a data task", "true") { site in
            let session = URLSession(configuration: Site.configuration())
            defer { session.invalidateAndCancel() }
            let task: URLSessionTask = session.uploadTask(with: try site.request("/", "PUT"), from: Data())
            return "\(task is URLSessionDataTask)"
        },
        Behaviour(load: "Upload task: a body of a data task as a stream", "4 body") { site in
            var request = try site.request("/echo", "PUT")
            request.httpBodyStream = InputStream(data: Data("body".utf8))
            request.setValue("4", forHTTPHeaderField: "Content-Length")
            _ = await site.outcome(request)
            return "\(site.sent("Content-Length")) \(site.server.requests.snapshot.map(\.bodyText).joined())"
        },
        Behaviour(load: "Download task: to the delegate", "wrote 5 of 5, file hello, complete ok") { site in
            await site.events(try site.request("/hello")) { $0.downloadTask(with: $1) }
        },
        Behaviour(load: "Download task: of unknown length", "-1") { site in
            let events = await site.events(try site.request("/chunked")) { $0.downloadTask(with: $1) }
            return events.split(separator: ",").first { $0.contains("wrote") }
                .flatMap { $0.split(separator: " ").last.map(String.init) } ?? events
        },
        Behaviour(load: "Download task: a completion handler", "200 hello false") { site in
            let session = URLSession(configuration: Site.configuration())
            defer { session.finishTasksAndInvalidate() }
            let request = try site.request("/hello")
            let kept = Kept<URL>()
            let text = await withCheckedContinuation { continuation in
                session.downloadTask(with: request) { location, response, error in
                    kept.value = location
                    let data = location.flatMap { try? Data(contentsOf: $0) }
                    continuation.resume(
                        returning: "\(shown((response as? HTTPURLResponse)?.statusCode)) \(shown(data))")
                }.resume()
            }
            // Deleted when the handler returns: wait for the queue to have done so.
            await withCheckedContinuation { continuation in
                session.delegateQueue.addOperation { continuation.resume() }
            }
            return "\(text) \(kept.value.map { FileManager.default.fileExists(atPath: $0.path) } ?? true)"
        },
        Behaviour(load: "Download task: a status is no error", "404") { site in
            let session = URLSession(configuration: Site.configuration())
            defer { session.finishTasksAndInvalidate() }
            let request = try site.request("/nowhere")
            return await withCheckedContinuation { continuation in
                session.downloadTask(with: request) { _, response, error in
                    continuation.resume(
                        returning: error.map { shown($0) } ?? shown((response as? HTTPURLResponse)?.statusCode))
                }.resume()
            }
        },
        Behaviour(load: "Download task: a connection that is refused", "URLError -1004") { site in
            let session = URLSession(configuration: Site.configuration())
            defer { session.finishTasksAndInvalidate() }
            let request = try site.request("/hello")
            site.stop()
            return await withCheckedContinuation { continuation in
                session.downloadTask(with: request) { continuation.resume(returning: $0 != nil ? "file" : shown($2)) }
                    .resume()
            }
        },
        Behaviour(load: "Download task: async", "200 hello") { site in
            let session = URLSession(configuration: Site.configuration())
            defer { session.finishTasksAndInvalidate() }
            let (location, response) = try await session.download(from: try site.url("/hello"))
            defer { try? FileManager.default.removeItem(at: location) }
            return "\(shown((response as? HTTPURLResponse)?.statusCode)) \(shown(try? Data(contentsOf: location)))"
        },
    ]
}
