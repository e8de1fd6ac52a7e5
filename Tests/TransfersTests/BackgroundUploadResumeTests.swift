import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

#if Persistence
    /// Uploads of background sessions that are cancelled, and gone on with by their resume data in another task.
    @Suite(.timeLimit(.minutes(5))) struct BackgroundUploadResumeTests {
        /// Speaks the draft of resumable uploads: it drops the first request when it has made a resource, says nothing more until
        /// it may go on, and has 40,000 bytes then.
        private static func server(_ asked: Signal, _ goesOn: Signal) throws -> LoopbackServer {
            var options = LoopbackServer.Options()
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
                    asked.fire()
                    goesOn.waitBlocking()
                    answer = ServerResponse(204).adding("Upload-Offset", "40000").adding("Upload-Complete", "?0")
                case ("PATCH", "/uploads/1"):
                    answer = .text("\(request.body.count)").adding("Upload-Complete", "?1")
                case _: throw CancellationError()
                }
                return answer.adding("Upload-Draft-Interop-Version", "6")
            }
        }

        @Test(arguments: [true, false]) func anUploadGoesOnInAnotherTask(runsInProcess: Bool) async throws {
            let (asked, goesOn) = (Signal(), Signal())
            let server = try Self.server(asked, goesOn)
            defer {
                goesOn.fire()
                server.stop()
            }
            let programs = try ChaosPrograms(runsInProcess: runsInProcess)
            let file = try programs.folder.write(Data(count: 100_000), to: "file")
            let url = server.url("/a")
            let code = try await onThread {
                let program = try programs.start()
                program.send("put a \(url) \(file.path)")
                asked.waitBlocking()
                program.send("cancel a")
                let data = try #require(program.next(with: "data"))
                try #require(data.count == 3 && data[2].count > 100)
                goesOn.fire()
                program.send("again b \(data.last ?? "")")
                let code = program.waitForEnd(of: "b")
                // Of a download's resume data, or anything else, no upload can be made.
                program.send("again c \(Data("none".utf8).base64EncodedString())")
                #expect(program.waitForEnd(of: "c") == "\(URLError.cannotDecodeRawData.rawValue)")
                return code
            }
            #expect(code == "0")
            #expect(programs.ends["a"] == [URLError.cancelled.rawValue])
            let requests = server.requests.snapshot
            #expect(requests.filter { $0.method == "PUT" }.count == 1)
            #expect(requests.last?.method == "PATCH" && requests.last?.body.count == 60_000)
        }

        /// The session's credentials are for the origin of the first request, also where the upload goes on.
        @Test func anUploadThatWasRedirectedGoesOnInTheBackground() async throws {
            let (asked, goesOn, ends) = (Signal(), Signal(), Ends())
            let server = try Self.server(asked, goesOn)
            let target = server.url("/a")
            let entry = try LoopbackServer { _ in .redirect(to: target, status: 307) }
            let background = URLSessionConfiguration.background(withIdentifier: "upload-\(UUID().uuidString)")
            background.runsInProcess = true
            let sessions = [URLSessionConfiguration.ephemeral, background].map { configuration in
                configuration.httpAdditionalHeaders = ["Authorization": "Bearer t"]
                return URLSession(configuration: configuration, delegate: ends, delegateQueue: nil)
            }
            defer {
                goesOn.fire()
                for session in sessions { session.invalidateAndCancel() }
                entry.stop()
                server.stop()
            }
            let folder = try TemporaryFolder()
            let file = try folder.write(Data(count: 100_000), to: "file")
            var request = URLRequest(url: try #require(URL(string: entry.url())))
            request.httpMethod = "PUT"
            let task = sessions[0].uploadTask(with: request, fromFile: file)
            task.resume()
            await asked.wait()
            let data = try #require(await task.cancelByProducingResumeData())
            goesOn.fire()
            sessions[1].uploadTask(withResumeData: data).resume()
            let codes = await ends.errors.count(reaches: 2).map { $0?.code.rawValue ?? 0 }
            #expect(codes == [URLError.Code.cancelled.rawValue, 0])
            #expect(entry.requests.snapshot.map { $0.fields[name: "Authorization"] } == ["Bearer t"])
            let requests = server.requests.snapshot
            #expect(requests.allSatisfy { $0.fields[name: "Authorization"] == nil })
            #expect(requests.last?.method == "PATCH" && requests.last?.body.count == 60_000)
        }
    }

    private final class Ends: NSObject, URLSessionTaskDelegate {
        let errors = Recorder<URLError?>()

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            errors.append(error as? URLError)
        }
    }
#endif
