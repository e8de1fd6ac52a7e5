import Foundation
import LoadingKitCore
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Makes the entries of a recorded load. They contain no secrets.
package struct EntryMaker {
    private let notes: LoadNotes
    private let rules: HARRules
    private let anchor: WallClockAnchor
    private var redactor: Redactor { rules.redactor }

    /// - Parameter anchor: a moment on both clocks.
    package init(_ notes: LoadNotes, _ rules: HARRules, _ anchor: WallClockAnchor) {
        self.notes = notes
        self.rules = rules
        self.anchor = anchor
    }

    /// One entry for each request that was sent for the load, or for the last one only: see ``HARRules/Perspective``.
    package func entries() -> [HAREntry] {
        let earlier = rules.perspective == .network ? notes.transactions.dropLast() : []
        return earlier.map(entry(ofEarlier:)) + [lastEntry()]
    }

    /// The entry of a request that was followed by another one: for an answer to a challenge, or on another connection.
    private func entry(ofEarlier transaction: TransactionRecord) -> HAREntry {
        var response = transaction.response.map { self.response($0, nil) } ?? HARResponse(status: 0)
        if transaction.response == nil {
            response.others["_error"] = "the connection was lost, and the request was sent again"
        }
        var entry = HAREntry(
            startedDateTime: HARDate(anchor.date(of: transaction.timings.fetchStart ?? notes.start)),
            request: request(transaction), response: response)
        entry.add(transaction.metrics(anchor))
        hideTarget(in: &entry, transaction)
        return entry
    }

    private func lastEntry() -> HAREntry {
        let transaction = notes.transactions.last
        let head = notes.response ?? transaction?.response
        var response = head.map { self.response($0, notes.receivedBody) } ?? HARResponse(status: 0)
        if case .failure(let error) = notes.result { describe(error, after: head, in: &response) }
        var timings = HARTimings()
        timings.wait = milliseconds(from: notes.start, to: notes.responseTime ?? notes.end)
        timings.receive = notes.responseTime.map { milliseconds(from: $0, to: notes.end) } ?? 0
        let start = rules.perspective == .network ? transaction?.timings.fetchStart : nil
        var entry = HAREntry(
            startedDateTime: HARDate(anchor.date(of: start ?? notes.start)), request: request(transaction),
            response: response, timings: timings)
        if let transaction { entry.add(transaction.metrics(anchor)) }
        hideTarget(in: &entry, transaction)
        if transaction?.timings.resourceFetchType == .localCache { addCache(to: &entry, head) }
        if notes.isWebSocket { addMessages(to: &entry) }
        return entry
    }

    private func milliseconds(from start: MonotonicTime, to end: MonotonicTime) -> Double {
        (max(end.seconds(since: start), 0) * 1_000_000).rounded() / 1_000
    }

    // MARK: Members of browsers

    /// The state of the cache, as far as it is known, with Chrome's name for the place of the stored response.
    private func addCache(to entry: inout HAREntry, _ response: URLResponse?) {
        let head = response as? HTTPURLResponse
        var state = HARCacheState(
            lastAccess: entry.startedDateTime.description, eTag: head?.value(forHTTPHeaderField: "ETag") ?? "",
            hitCount: 1)
        state.expires = head?.value(forHTTPHeaderField: "Expires").flatMap(HARCookie.date)
        entry.cache.beforeRequest = state
        entry.others["_fromCache"] = notes.cachesInMemory ? "memory" : "disk"
        (entry.response.headersSize, entry.response.bodySize) = (-1, 0)
    }

    /// A WebSocket's messages, as Chrome exports and imports them.
    private func addMessages(to entry: inout HAREntry) {
        entry.others["_resourceType"] = "websocket"
        entry.others["_webSocketMessages"] = .array(
            notes.messages.map { note in
                let (opcode, data): (JSONValue, String) =
                    switch note.message {
                    case .string(let text): (1, String(decoding: redactor.body(Array(text.utf8), nil), as: UTF8.self))
                    case .data(let data): (2, Data(redactor.body(Array(data), nil)).base64EncodedString())
                    }
                return [
                    "type": note.isSent ? "send" : "receive", "opcode": opcode, "data": .string(data),
                    "time": .number(anchor.date(of: note.time).timeIntervalSince1970),
                ]
            })
        if notes.omittedMessages > 0 {
            entry.comment = "The last \(notes.omittedMessages) messages were not recorded."
        }
    }

    // MARK: The request

    private func recorded(_ transaction: TransactionRecord?) -> URLRequest {
        rules.perspective == .network ? transaction?.request ?? notes.request : notes.request
    }

    private func request(_ transaction: TransactionRecord?) -> HARRequest {
        let request = recorded(transaction)
        let fields = sentFields(transaction) ?? request.headerFields
        var made = HARRequest(
            method: request.httpMethod ?? "GET", url: redactor.url(request.url, after: notes.firstURL),
            headers: fields.map { HARNameValue(name: $0.name, value: value(of: $0, in: request)) })
        made.cookies = made.headers.filter { $0.name.lowercased() == "cookie" }.flatMap { field in
            field.value.split(separator: ";").map { HARCookie(pair: $0) }
        }
        made.bodySize = notes.sentBody.size
        if made.bodySize > 0 { made.postData = postData(notes.sentBody, fields) }
        return made
    }

    /// The host of a hidden URL is hidden, too.
    private func value(of field: (name: String, value: String), in request: URLRequest) -> String {
        field.name.lowercased() == "host" && redactor.hides(request.url, after: notes.firstURL)
            ? HARRedaction.marker : redactor.field(field.name, field.value)
    }

    /// The fields of a request as it was sent, without HTTP/2's pseudo-fields; nil where they are not known, or not
    /// shown.
    private func sentFields(_ transaction: TransactionRecord?) -> [(name: String, value: String)]? {
        guard rules.perspective == .network, let lines = transaction?.sentLines?() else { return nil }
        return lines.compactMap { line in
            guard let colon = line.dropFirst().firstIndex(of: ":"), !line.hasPrefix(":"),
                !line[..<colon].contains(" ")
            else { return nil }
            return (String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        }
    }

    private func postData(_ body: RecordedBody, _ fields: [(name: String, value: String)]) -> HARPostData {
        let contentType = fields.first { $0.name.lowercased() == "content-type" }?.value
        var made = HARPostData(mimeType: contentType ?? "", text: "")
        let isLeftOut = redactor.leavesOut(bodyWith: fields)
        guard rules.bodyLimit != nil, !isLeftOut, let data = body.data else {
            made.comment = Self.comment(onBodyOf: body.size, isCoded: isLeftOut)
            made.others["_omitted"] = true
            return made
        }
        let bytes = redactor.body(Array(data), contentType)
        (made.text, made.encoding) = Self.text(of: bytes)
        if let multipart = MultipartBody(bytes, contentType: contentType) {
            made.params = multipart.parts.map { part in
                HARParameter(
                    name: part.name, value: part.fileName == nil ? multipart.text(of: part) : nil,
                    fileName: part.fileName, contentType: part.contentType)
            }
        } else if contentType?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true {
            made.params = FormPairs.parsed(Array(made.text.utf8)).map { HARParameter(name: $0.name, value: $0.value) }
        }
        return made
    }

    /// The comment on a body that is not recorded.
    static func comment(onBodyOf size: Int, isCoded: Bool = false) -> String {
        "The body was not recorded: \(size) bytes\(isCoded ? " in a content coding" : "")."
    }

    /// The bytes as text, or as base64 where they are not text.
    private static func text(of bytes: [UInt8]) -> (text: String, encoding: String?) {
        if !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) { return (text, nil) }
        return (Data(bytes).base64EncodedString(), "base64")
    }

    // MARK: The response

    /// - Parameter body: the received body; nil where it was not read.
    private func response(_ response: URLResponse, _ body: RecordedBody?) -> HARResponse {
        let head = response as? HTTPURLResponse
        let status = head?.statusCode ?? 200
        let isRedirect = [301, 302, 303, 307, 308].contains(status)
        let type = head?.value(forHTTPHeaderField: "Content-Type") ?? (head == nil ? response.mimeType : nil)
        var content = HARContent(size: body?.size ?? 0, mimeType: type ?? "x-unknown")
        if case .failure = notes.result, body != nil {
            content.comment = "The body is not whole."
        } else if let body, body.size > 0 || !isRedirect && status != 101 {
            let isLeftOut =
                !response.isDecoded(keepsCodings: notes.keepsCodings)
                && redactor.leavesOut(bodyWith: head?.headerFields ?? [])
            if rules.bodyLimit != nil, !isLeftOut, let data = body.data {
                (content.text, content.encoding) = Self.text(of: redactor.body(Array(data), type))
            } else if body.size > 0 {
                content.comment = Self.comment(onBodyOf: body.size, isCoded: isLeftOut)
            }
        }
        var fields: [HARNameValue] = []
        var cookies: [HARCookie] = []
        for (name, value) in head?.headerFields ?? [] {
            let value = redactor.field(name, value)
            if name.lowercased() == "set-cookie" {
                let lines = SetCookieField.split(value)
                fields += lines.map { HARNameValue(name: name, value: $0) }
                cookies += lines.map(HARCookie.init(line:))
            } else {
                fields.append(HARNameValue(name: name, value: value))
            }
        }
        let location = head?.value(forHTTPHeaderField: "Location").map { redactor.field("location", $0) }
        var made = HARResponse(
            status: status, statusText: HTTPURLResponse.localizedString(forStatusCode: status),
            headers: fields, content: content, redirectURL: isRedirect ? location ?? "" : "")
        made.cookies = cookies
        return made
    }

    /// Removes what tells the host of a hidden URL by its meaning: the server's address, and fields of the response that
    /// have the request's URL or host. Other fields may name the host, too, and can be redacted by their names.
    private func hideTarget(in entry: inout HAREntry, _ transaction: TransactionRecord?) {
        guard redactor.hides(recorded(transaction).url, after: notes.firstURL) else { return }
        entry.serverIPAddress = nil
        for (index, field) in entry.response.headers.enumerated() {
            switch field.name.lowercased() {
            case "content-location": entry.response.headers[index].value = HARRedaction.marker
            case "set-cookie": entry.response.headers[index].value = SetCookieField.withoutDomain(field.value)
            default: break
            }
        }
        for index in entry.response.cookies.indices { entry.response.cookies[index].domain = nil }
    }

    /// Describes the error as Chrome does, with the code for its replay.
    private func describe(_ error: any Error, after head: URLResponse?, in response: inout HARResponse) {
        let url = notes.request.url
        let failure = URLError(error, url: url)
        var text = failure.localizedDescription
        if mayNameLocation(failure, head) {
            text = URLError(failure.code).localizedDescription
        } else if let url {
            text = text.replacing(url.absoluteString, with: redactor.url(url, after: notes.firstURL))
        }
        response.others["_error"] = .string(
            failure.code == .cancelled ? "cancelled" : Redactor.withoutUsers(text))
        response.others["_urlErrorCode"] = .integer(Int64(failure.code.rawValue))
    }

    /// Whether the words of an error may contain a secret `Location`, or a part of one.
    private func mayNameLocation(_ failure: URLError, _ head: URLResponse?) -> Bool {
        guard redactor.hidesLocations else { return false }
        let isOfRedirect =
            failure.code == .redirectToNonExistentLocation
            || (head as? HTTPURLResponse)?.value(forHTTPHeaderField: "Location") != nil
        let requests = [notes.request] + notes.transactions.map(\.request)
        return isOfRedirect || requests.contains { redactor.hides($0.url, after: notes.firstURL) }
    }
}

extension HARCookie {
    /// Makes a cookie from the text `name=value`.
    init(pair: some StringProtocol) {
        let pair = pair.trimmingCharacters(in: .whitespaces)
        let name = pair.prefix { $0 != "=" }
        self.init(name: String(name), value: String(pair.dropFirst(name.count + 1)))
    }

    /// Makes a cookie from a `Set-Cookie` line.
    init(line: String) {
        let pieces = line.split(separator: ";")
        self.init(pair: pieces.first ?? "")
        (httpOnly, secure) = (false, false)
        for attribute in pieces.dropFirst().map({ HARCookie(pair: $0) }) {
            let value = attribute.value
            switch attribute.name.lowercased() {
            case "path": path = value
            case "domain": domain = value
            case "httponly": httpOnly = true
            case "secure": secure = true
            case "expires": expires = Self.date(value)
            case "samesite": others["sameSite"] = .string(value)
            default: break
            }
        }
    }

    /// A date of HTTP in the file's form; nil where the text is none.
    static func date(_ text: String) -> String? {
        // Old servers send `21-Oct-2037`.
        let seconds = HTTPDate.parse(text.replacing("-", with: " "), now: Date().timeIntervalSince1970)
        return seconds.map { HARDate(Date(timeIntervalSince1970: Double($0))).description }
    }
}
