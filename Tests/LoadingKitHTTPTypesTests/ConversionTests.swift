#if HTTPTypes
    import Foundation
    import HTTPTypes
    import LoadingKit
    import LoadingKitHTTPTypes
    import Testing

    @Suite struct RequestConversionTests {
        struct Parts {
            var method = HTTPRequest.Method.get
            var scheme: String? = "https"
            var authority: String? = "h.example"
            var path: String? = "/"
            var connectProtocol: String?

            var request: HTTPRequest {
                var request = HTTPRequest(method: method, scheme: scheme, authority: authority, path: path)
                request.extendedConnectProtocol = connectProtocol
                return request
            }
        }

        @Test func pseudoFieldsBecomeAURL() {
            let table: [(Parts, String)] = [
                (Parts(), "GET https://h.example/"),
                (Parts(scheme: "HTTP", authority: "h.example:8080", path: "/a?b=c"), "GET HTTP://h.example:8080/a?b=c"),
                (Parts(authority: "[::1]:443", path: "/?"), "GET https://[::1]:443/?"),
                (Parts(method: .options), "OPTIONS https://h.example/"),
                (Parts(path: "//other.example/x"), "GET https://h.example//other.example/x"),
                (Parts(path: "/@other.example"), "GET https://h.example/@other.example"),
                (Parts(path: "/a b"), "GET https://h.example/a%20b"),
                (Parts(scheme: "file", authority: "", path: "/etc/hosts"), "GET file:///etc/hosts"),
                (Parts(method: .connect, connectProtocol: "websocket"), "GET wss://h.example/"),
                (Parts(method: .connect, scheme: "http", connectProtocol: "websocket"), "GET ws://h.example/"),
                (Parts(method: .connect, scheme: "WSS", connectProtocol: "websocket"), "GET wss://h.example/"),
            ]
            var wrong: [String] = []
            for (parts, expected) in table {
                let request = URLRequest(httpRequest: parts.request)
                let text = request.map { "\($0.httpMethod ?? "") \($0.url?.absoluteString ?? "")" }
                if text != expected { wrong.append("\(parts): \(text ?? "nil")") }
            }
            #expect(wrong.isEmpty)
        }

        @Test func whatIsNoURLIsRefused() async {
            let table: [(Parts, HTTPTypeConversionError)] = [
                (Parts(scheme: nil), .missingScheme),
                (Parts(authority: nil), .missingAuthority),
                (Parts(path: nil), .missingPath),
                (Parts(scheme: ""), .invalidScheme("")),
                (Parts(scheme: "https://evil/?"), .invalidScheme("https://evil/?")),
                (Parts(scheme: "1http"), .invalidScheme("1http")),
                (Parts(authority: ""), .invalidAuthority("")),
                (Parts(authority: "user:secret@h.example"), .invalidAuthority("user:secret@h.example")),
                (Parts(authority: "h.example/"), .invalidAuthority("h.example/")),
                (Parts(authority: "h.example?"), .invalidAuthority("h.example?")),
                (Parts(authority: "h.example#"), .invalidAuthority("h.example#")),
                (Parts(authority: "evil\\h.example"), .invalidAuthority("evil\\h.example")),
                (Parts(authority: "h example"), .invalidAuthority("h example")),
                (Parts(authority: ":80"), .invalidAuthority(":80")),
                (Parts(authority: "[::1"), .invalidURL("https://[::1/")),
                (Parts(authority: "h.example:port"), .invalidURL("https://h.example:port/")),
                (Parts(path: ""), .invalidPath("")),
                (Parts(path: "*"), .invalidPath("*")),
                // Joined to the authority, these would be other hosts.
                (Parts(path: ".evil.example/"), .invalidPath(".evil.example/")),
                (Parts(path: "@evil.example/"), .invalidPath("@evil.example/")),
                (Parts(path: ":8080/"), .invalidPath(":8080/")),
                (Parts(method: .options, path: "*"), .asteriskForm),
                (Parts(method: .connect, scheme: nil, authority: "h.example:443", path: nil), .connect),
                (Parts(method: .connect), .connect),
                (Parts(method: .connect, connectProtocol: "connect-udp"), .unsupportedProtocol("connect-udp")),
                (
                    Parts(method: .connect, scheme: "ftp", connectProtocol: "websocket"),
                    .unsupportedProtocol("websocket")
                ),
                (Parts(method: .connect, scheme: nil, connectProtocol: "websocket"), .missingScheme),
                (Parts(connectProtocol: "websocket"), .protocolWithoutConnect("websocket")),
            ]
            let session = URLSession(configuration: .ephemeral)
            defer { session.invalidateAndCancel() }
            var wrong: [String] = []
            for (parts, expected) in table {
                let request = parts.request
                if URLRequest(httpRequest: request) != nil { wrong.append("\(parts) is converted") }
                do {
                    _ = try await session.data(for: request)
                    wrong.append("\(parts) is loaded")
                } catch let error as HTTPTypeConversionError where error == expected {
                    if error.localizedDescription != error.description || error.description.isEmpty {
                        wrong.append("\(parts): \(error.localizedDescription)")
                    }
                } catch {
                    wrong.append("\(parts): \(error)")
                }
            }
            #expect(wrong.isEmpty)
        }

        @Test func aURLRequestBecomesARequest() {
            let table: [(method: String?, url: String, expected: String?)] = [
                (nil, "https://h.example", "GET https h.example / -"),
                ("POST", "http://user:pw@h.example:81/a?b#c", "POST http h.example:81 /a?b -"),
                ("purge", "http://[::1]:81?q", "purge http [::1]:81 /?q -"),
                ("GET", "wss://h.example/chat", "CONNECT https h.example /chat websocket"),
                ("GET", "WS://h.example/chat", "CONNECT http h.example /chat websocket"),
                ("POST", "ws://h.example/chat", "POST ws h.example /chat -"),
                ("GET", "data:,hello", "GET data nil ,hello -"),
                ("GET", "relative/path", nil),
                ("GET", "//h.example/", nil),
                ("G E T", "https://h.example/", nil),
                ("", "https://h.example/", nil),
            ]
            var wrong: [String] = []
            for (method, text, expected) in table {
                guard let url = URL(string: text) else {
                    wrong.append(text)
                    continue
                }
                var request = URLRequest(url: url)
                request.httpMethod = method
                let got = request.httpRequest.map {
                    "\($0.method) \($0.scheme ?? "nil") \($0.authority ?? "nil") \($0.path ?? "nil")"
                        + " \($0.extendedConnectProtocol ?? "-")"
                }
                if got != expected { wrong.append("\(text): \(got ?? "nil")") }
            }
            #expect(wrong.isEmpty)
            var none = URLRequest(url: URL(fileURLWithPath: "/"))
            none.url = nil
            #expect(none.httpRequest == nil)
        }

        @Test func fieldsKeepTheirOrderAndCase() throws {
            var request = HTTPRequest(method: .get, scheme: "https", authority: "h.example", path: "/")
            request.headerFields.append(HTTPField(name: try name("X-b"), value: "1"))
            request.headerFields.append(HTTPField(name: .accept, value: "text/html"))
            request.headerFields.append(HTTPField(name: .cookie, value: "a=b"))
            request.headerFields.append(HTTPField(name: try name("x-B"), value: "2"))
            request.headerFields.append(HTTPField(name: .cookie, value: "c=d"))
            request.headerFields.append(HTTPField(name: .accept, value: "*/*"))
            request.headerFields.append(HTTPField(name: try name("X-Empty"), value: ""))
            let converted = try #require(URLRequest(httpRequest: request))
            #expect(
                converted.headerFields.map { "\($0.name): \($0.value)" } == [
                    "X-b: 1", "Accept: text/html", "Cookie: a=b; c=d", "x-B: 2", "Accept: */*", "X-Empty: ",
                ])
            #expect(
                try #require(converted.httpRequest).headerFields.map { "\($0.name.rawName): \($0.value)" }
                    == converted.headerFields.map { "\($0.name): \($0.value)" })
        }

        @Test func bytesBeyondASCIIAreRead() throws {
            let table: [(bytes: [UInt8], text: String)] = [
                (Array("grün".utf8), "grün"),
                ([0x67, 0x72, 0xfc, 0x6e], "grün"),
                ([0xff, 0xfe], "ÿþ"),
                (Array("日本".utf8), "日本"),
            ]
            for (bytes, text) in table {
                var request = HTTPRequest(method: .get, scheme: "https", authority: "h.example", path: "/")
                request.headerFields.append(HTTPField(name: .userAgent, value: bytes))
                let converted = try #require(URLRequest(httpRequest: request))
                #expect(converted.value(forHTTPHeaderField: "User-Agent") == text)
                #expect(converted.httpRequest?.headerFields[.userAgent] == text)
            }
        }

        @Test func namesAndValuesThatHTTPDoesNotAllow() throws {
            var request = URLRequest(url: try #require(URL(string: "https://h.example/")))
            request.setValue("1", forHTTPHeaderField: "bad name")
            request.setValue("2", forHTTPHeaderField: ":path")
            request.setValue("3", forHTTPHeaderField: "")
            request.setValue("a\r\nEvil: 1", forHTTPHeaderField: "X-Good")
            let fields = try #require(request.httpRequest).headerFields
            #expect(fields.map { "\($0.name)=\($0.value)" } == ["X-Good=a  Evil: 1"])
        }

        @Test func moreFieldsThanHTTPFieldsHolds() throws {
            let cookies = Array(repeating: (name: "Set-Cookie", value: "a=b"), count: 65_535)
            let response = HTTPURLResponse(url: URL(fileURLWithPath: "/"), statusCode: 200, headerFields: cookies)
            #expect(response.headerFields.count == 65_535 && response.httpResponse == nil)
        }

        @Test func sensitiveFieldsAreConverted() throws {
            var request = HTTPRequest(method: .get, scheme: "https", authority: "h.example", path: "/")
            var field = HTTPField(name: .authorization, value: "Bearer x")
            field.indexingStrategy = .disallow
            request.headerFields.append(field)
            let converted = try #require(URLRequest(httpRequest: request))
            #expect(converted.value(forHTTPHeaderField: "Authorization") == "Bearer x")
            #expect(converted.httpRequest?.headerFields.first?.indexingStrategy == .automatic)
        }

        private func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }
    }

    @Suite struct ResponseConversionTests {
        private let url = URL(fileURLWithPath: "/")

        @Test func statusAndFields() throws {
            var fields = HTTPResponse(status: .notFound).headerFields
            fields.append(HTTPField(name: .vary, value: "Accept"))
            fields.append(HTTPField(name: .vary, value: "Cookie"))
            fields.append(HTTPField(name: .contentType, value: "text/plain; charset=utf-8"))
            fields.append(HTTPField(name: .setCookie, value: "a=b; Expires=Wed, 21 Oct 2030 07:28:00 GMT"))
            fields.append(HTTPField(name: .setCookie, value: "c=d"))
            let made = HTTPURLResponse(httpResponse: HTTPResponse(status: .notFound, headerFields: fields), url: url)
            let response = try #require(made)
            #expect(response.statusCode == 404 && response.mimeType == "text/plain" && response.url == url)
            #expect(response.value(forHTTPHeaderField: "vary") == "Accept, Cookie")
            let back = try #require(response.httpResponse)
            #expect(back.status == .notFound)
            #expect(back.headerFields[values: .vary] == ["Accept", "Cookie"])
            #expect(
                back.headerFields[values: .setCookie] == ["a=b; Expires=Wed, 21 Oct 2030 07:28:00 GMT", "c=d"])
        }

        @Test func statusesThatAreNone() {
            for (status, isConverted) in [(0, true), (99, true), (599, true), (999, true), (1000, false), (-1, false)] {
                let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
                #expect((response?.httpResponse != nil) == isConverted)
                #expect(response?.httpResponse?.status.code == (isConverted ? status : nil))
            }
        }
    }
#endif
