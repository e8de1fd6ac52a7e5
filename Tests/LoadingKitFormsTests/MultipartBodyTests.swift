import Foundation
import LoadingKitForms
import Testing

/// The bytes of forms, without a server.
@Suite struct MultipartBodyTests {
    @Test(arguments: [
        ("plain", "plain"), ("", ""), ("a\"b", "a%22b"), ("a\nb", "a%0D%0Ab"), ("a\rb", "a%0D%0Ab"),
        ("a\r\nb", "a%0D%0Ab"), ("a\r\r\nb\n", "a%0D%0A%0D%0Ab%0D%0A"), ("100%", "100%"), ("%22", "%22"),
        ("名前 é", "名前 é"), ("back\\slash;x=1", "back\\slash;x=1"),
    ])
    func namesAreEncodedAsBrowsersDo(name: String, encoded: String) async throws {
        var form = MultipartForm(boundary: "b")
        form.append(name, text: "v")
        let text = String(decoding: try await readAll(try form.makeBody()), as: UTF8.self)
        #expect(text == "--b\r\nContent-Disposition: form-data; name=\"\(encoded)\"\r\n\r\nv\r\n--b--\r\n")
    }

    /// Those of files keep their line ends.
    @Test(arguments: [("a\nb.txt", "a%0Ab.txt"), ("a\r\nb.txt", "a%0D%0Ab.txt"), ("\"é\".txt", "%22é%22.txt")])
    func filenamesAreEncodedAsBrowsersDo(name: String, encoded: String) async throws {
        var form = MultipartForm(boundary: "b")
        form.append("f", data: Data("v".utf8), filename: name)
        let text = String(decoding: try await readAll(try form.makeBody()), as: UTF8.self)
        #expect(text.contains("; name=\"f\"; filename=\"\(encoded)\"\r\nContent-Type: text/plain\r\n\r\nv\r\n"))
    }

    /// Over every size of the reader's buffer, and again and again.
    @Test func aBodyOfAllKindsHasTheLengthThatItSays() async throws {
        let folder = try Folder()
        let file = try folder.write(Data("file content".utf8), to: "a.json")
        let empty = try folder.write(Data(), to: "empty.PNG")
        var form = MultipartForm(boundary: "xYz")
        form.append("text", text: "one\ntwo")
        form.append("data", data: Data([0, 255, 13, 10]), filename: "d.bin")
        form.append("file", file: file)
        form.append("empty", file: empty, filename: "e.PNG")
        form.append("stream", length: 6) { InputStream(data: Data("stream".utf8)) }
        form.append("pieces", length: 8, filename: "p.weird") { pieces("pi", "", "eces", "ab") }
        form.append("type", text: "{}", contentType: "application/json")
        form.parts[6].fields = [("X-Part", "7")]
        let body = try form.makeBody()
        let head = "--xYz\r\nContent-Disposition: form-data; name="
        let octets = "Content-Type: application/octet-stream"
        var expected = Data("\(head)\"text\"\r\n\r\none\ntwo\r\n".utf8)
        expected += Data("\(head)\"data\"; filename=\"d.bin\"\r\n\(octets)\r\n\r\n".utf8) + Data([0, 255, 13, 10])
        let json = "Content-Type: application/json"
        expected += Data("\r\n\(head)\"file\"; filename=\"a.json\"\r\n\(json)\r\n\r\nfile content\r\n".utf8)
        expected += Data("\(head)\"empty\"; filename=\"e.PNG\"\r\nContent-Type: image/png\r\n\r\n\r\n".utf8)
        expected += Data("\(head)\"stream\"\r\n\r\nstream\r\n".utf8)
        expected += Data("\(head)\"pieces\"; filename=\"p.weird\"\r\n\(octets)\r\n\r\npiecesab\r\n".utf8)
        expected += Data("\(head)\"type\"\r\n\(json)\r\nX-Part: 7\r\n\r\n{}\r\n--xYz--\r\n".utf8)
        #expect(body.contentLength == Int64(expected.count) && body.contentType == "multipart/form-data; boundary=xYz")
        for size in 1...expected.count + 1 where size < 40 || size % 37 == 0 {
            #expect(try await readAll(body, by: size) == expected, "buffer of \(size)")
        }
    }

    @Test func aFormWithoutPartsHasItsEnd() async throws {
        let body = try MultipartForm(boundary: "b").makeBody()
        #expect(try await readAll(body) == Data("--b--\r\n".utf8) && body.contentLength == 7)
    }

    @Test func boundariesAreRandomAndInNoData() throws {
        var form = MultipartForm()
        form.append("a", text: "b")
        let boundaries = try (0..<100).map { _ in try form.makeBody().boundary }
        #expect(Set(boundaries).count == 100 && boundaries.allSatisfy { $0.utf8.count == 32 })
        form.boundary = "occurs"
        #expect(try form.makeBody().boundary == "occurs")
        form.append("content", data: Data("xx oococcurs".utf8))
        #expect(throws: MultipartFormError.boundaryOccurs(part: "content")) { try form.makeBody() }
    }

    @Test(arguments: ["", "a\r\n", "ü", "end ", "a\"b", String(repeating: "a", count: 71)])
    func boundariesThatAreNoneAreRefused(boundary: String) {
        #expect(throws: MultipartFormError.invalidBoundary(boundary)) {
            try MultipartForm(boundary: boundary).makeBody()
        }
    }

    @Test func aBoundaryThatIsNoTokenIsQuoted() throws {
        let body = try MultipartForm(boundary: "a b:c").makeBody()
        #expect(body.contentType == "multipart/form-data; boundary=\"a b:c\"")
    }

    @Test func whatCannotBeSentIsRefused() throws {
        let folder = try Folder()
        var form = MultipartForm()
        form.append("p", text: "", contentType: "text/plain\r\nX: y")
        #expect(throws: MultipartFormError.invalidField(part: "p", field: "Content-Type")) { try form.makeBody() }
        form.parts = [.init(name: "p", fields: [("a b", "c")], content: .data(Data()))]
        #expect(throws: MultipartFormError.invalidField(part: "p", field: "a b")) { try form.makeBody() }
        form.parts = []
        form.append("s") { InputStream(data: Data()) }
        #expect(throws: MultipartFormError.unknownLength(part: "s")) { try form.makeBody() }
        #expect(try form.makeBody(allowsUnknownLength: true).contentLength == nil)
        form.parts = []
        form.append("s", length: -1) { InputStream(data: Data()) }
        #expect(throws: MultipartFormError.invalidLength(part: "s")) { try form.makeBody() }
        form.parts = []
        form.append("s", length: .max) { InputStream(data: Data()) }
        #expect(throws: MultipartFormError.invalidLength(part: "s")) { try form.makeBody() }
        form.parts = []
        form.append("f", file: folder.url)
        #expect(throws: MultipartFormError.notARegularFile(path: folder.url.path)) { try form.makeBody() }
        form.parts = []
        let missing = folder.url.appendingPathComponent("missing")
        form.append("f", file: missing)
        #expect(throws: MultipartFormError.unreadableFile(path: missing.path, errno: ENOENT)) { try form.makeBody() }
        form.parts = []
        form.append("f", file: try url("https://h.example/x"))
        #expect(throws: MultipartFormError.notARegularFile(path: "https://h.example/x")) { try form.makeBody() }
    }

    enum Length: CaseIterable {
        case less, more, nothing
        var content: String {
            switch self {
            case .less: "12345"
            case .more: "1234567"
            case .nothing: ""
            }
        }
    }

    @Test(arguments: Length.allCases) func aWrongLengthIsAnError(length: Length) async throws {
        let content = length.content
        var streams = MultipartForm()
        streams.append("s", length: 6) { InputStream(data: Data(content.utf8)) }
        var sequences = MultipartForm()
        sequences.append("s", length: 6) { pieces(content) }
        let error = MultipartFormError.wrongLength(part: "s", expected: 6, found: Int64(content.utf8.count))
        for form in [streams, sequences] {
            let body = try form.makeBody()
            await #expect(throws: error) { try await readAll(body) }
        }
    }

    struct Broken: Error {}

    @Test func sourcesThatFailSayWhy() async throws {
        var form = MultipartForm()
        form.append("s", length: 6) { () throws -> InputStream in throw Broken() }
        await #expect(throws: MultipartFormError.sourceFailed(part: "s", reason: "Broken()")) {
            try await readAll(try form.makeBody())
        }
        form.parts = []
        form.append("s", length: 6) {
            AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("12".utf8))
                continuation.finish(throwing: Broken())
            }
        }
        await #expect(throws: MultipartFormError.sourceFailed(part: "s", reason: "Broken()")) {
            try await readAll(try form.makeBody())
        }
        form.parts = []
        form.append("s", length: 6) { () throws -> InputStream in
            guard let stream = InputStream(fileAtPath: "/nowhere/at/all") else { throw Broken() }
            return stream
        }
        await #expect(throws: MultipartFormError.self) { try await readAll(try form.makeBody()) }
    }
}
