#if HTTPTypes
    import Foundation
    import HTTPTypes
    import LoadingKit
    import LoadingKitHTTPTypes
    import LoadingKitLoopbackServer
    import TestSupport
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct SessionTests {
        private func session(_ change: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            change(configuration)
            return URLSession(configuration: configuration)
        }

        private func request(_ server: LoopbackServer, _ path: String = "/") throws -> HTTPRequest {
            HTTPRequest(url: try #require(URL(string: server.url(path))))
        }

        @Test(arguments: [false, true])
        func everyMethodLoads(_ speaksHTTP2: Bool) async throws {
            var options = LoopbackServer.Options()
            options.speaksHTTP2 = speaksHTTP2
            let server = try LoopbackServer(options) { request in
                var response = ServerResponse.text("\(request.method) \(request.bodyText)", status: 201)
                response.fields.append(name: "X-Two", value: "1")
                response.fields.append(name: "X-Two", value: "2")
                response.fields.append(name: "Set-Cookie", value: "a=b; Expires=Wed, 21 Oct 2030 07:28:00 GMT")
                response.fields.append(name: "Set-Cookie", value: "c=d")
                return response
            }
            defer { server.stop() }
            let session = session { $0.assumesCleartextHTTP2 = speaksHTTP2 }
            defer { session.invalidateAndCancel() }
            var request = try request(server)
            request.method = .put

            let (data, response) = try await session.data(for: request)
            #expect(String(decoding: data, as: UTF8.self) == "PUT ")
            #expect(response.status == .created)
            #expect(response.headerFields[values: try #require(HTTPField.Name("x-two"))] == ["1", "2"])
            #expect(
                response.headerFields[values: .setCookie] == ["a=b; Expires=Wed, 21 Oct 2030 07:28:00 GMT", "c=d"])

            let (sent, sentResponse) = try await session.upload(for: request, from: Data("body".utf8))
            #expect(String(decoding: sent, as: UTF8.self) == "PUT body" && sentResponse.status == .created)

            let folder = try TemporaryFolder()
            let source = try folder.write("file", to: "body")
            let (file, fileResponse) = try await session.upload(for: request, fromFile: source)
            #expect(String(decoding: file, as: UTF8.self) == "PUT file" && fileResponse.status == .created)

            let (location, downloaded) = try await session.download(for: request)
            defer { try? FileManager.default.removeItem(at: location) }
            #expect(try Data(contentsOf: location) == Data("PUT ".utf8) && downloaded.status == .created)

            let (bytes, head) = try await session.bytes(for: request)
            var text: [UInt8] = []
            for try await byte in bytes { text.append(byte) }
            #expect(text == Array("PUT ".utf8) && head.status == .created)
        }

        @Test func fieldsGoOutInTheirOrder() async throws {
            let peer = try ScriptedPeer([.expectRequest, .respond("ok")])
            defer { peer.stop() }
            let session = session()
            defer { session.invalidateAndCancel() }
            var request = HTTPRequest(url: try #require(URL(string: peer.url("/a?b"))))
            for (name, value) in [("X-Z", "1"), ("x-a", "2"), ("X-Z", "3"), ("Cookie", "a=b"), ("Cookie", "c=d")] {
                request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
            }
            _ = try await session.data(for: request)
            let received = try #require(await peer.receivedRequest(0))
            #expect(received.target == "/a?b")
            let fields = received.fields.filter { ["x-z", "x-a", "cookie"].contains($0.name.lowercased()) }
            #expect(fields.map { "\($0.name): \($0.value)" } == ["X-Z: 1", "x-a: 2", "X-Z: 3", "Cookie: a=b; c=d"])
        }

        @Test func rawBytesOfAResponse() async throws {
            let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Latin: gr".utf8) + [0xfc]
            let bytes = head + Array("n\r\nX-UTF8: grün\r\n\r\n".utf8)
            let peer = try ScriptedPeer([.expectRequest, .send(bytes)])
            defer { peer.stop() }
            let session = session()
            defer { session.invalidateAndCancel() }
            let (_, response) = try await session.data(for: HTTPRequest(url: try #require(URL(string: peer.url()))))
            for name in ["X-Latin", "X-UTF8"] {
                #expect(response.headerFields[try #require(HTTPField.Name(name))] == "grün")
            }
        }

        @Test func tasksGiveTheirMessages() async throws {
            let server = try LoopbackServer { request in
                request.path == "/" ? .redirect(to: "/next") : .text("there", status: 202)
            }
            defer { server.stop() }
            let session = session()
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: server.url()))
            let ended = Signal()
            let task = session.dataTask(with: url) { _, _, _ in ended.fire() }
            #expect(task.httpResponse == nil)
            task.resume()
            await ended.wait()
            #expect(task.originalHTTPRequest?.path == "/" && task.currentHTTPRequest?.path == "/next")
            #expect(task.httpResponse?.status == .accepted)
        }

        @Test func responsesThatAreNotHTTP() async throws {
            let session = session()
            defer { session.invalidateAndCancel() }
            let folder = try TemporaryFolder()
            let content = Data((0..<7919).map { _ in UInt8.random(in: 0...255) })
            let request = HTTPRequest(url: try folder.write(content, to: "resource"))
            await #expect(throws: HTTPTypeConversionError.notHTTPResponse) { try await session.data(for: request) }
            await #expect(throws: HTTPTypeConversionError.notHTTPResponse) { try await session.bytes(for: request) }
            await #expect(throws: HTTPTypeConversionError.notHTTPResponse) { try await session.download(for: request) }
            // The downloaded file is removed, because the caller does not get its name: only the resource remains.
            #expect(copies(of: content).map(\.lastPathComponent) == ["resource"])
        }

        private func copies(of content: Data) -> [URL] {
            let temporary = URL(fileURLWithPath: NSTemporaryDirectory())
            let files = FileManager.default.enumerator(at: temporary, includingPropertiesForKeys: [.fileSizeKey])
            return (files?.compactMap { $0 as? URL } ?? []).filter { file in
                (try? file.resourceValues(forKeys: [.fileSizeKey]))?.fileSize == content.count
                    && (try? Data(contentsOf: file)) == content
            }
        }

        @Test func errorsAndCancellationComeThrough() async throws {
            let server = try LoopbackServer { request in
                try request.exchange.waitUntilClientCloses()
                return .text("")
            }
            defer { server.stop() }
            let session = session()
            defer { session.invalidateAndCancel() }
            let request = try request(server)
            let load = Task { try await session.data(for: request) }
            _ = await server.requests.count(reaches: 1)
            load.cancel()
            let error = await #expect(throws: URLError.self) { try await load.value }
            #expect(error?.code == .cancelled)
        }
    }
#endif
