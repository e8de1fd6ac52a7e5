import Foundation
import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Makes the entry of a recorded request. It contains no secrets.
struct EntryMaker {
    private let slot: RecordingSlot
    private let recorder: HARRecorder
    private var redactor: Redactor { recorder.redactor }

    init(_ slot: RecordingSlot, _ recorder: HARRecorder) {
        self.slot = slot
        self.recorder = recorder
    }

    /// The entry of an ended load.
    ///
    /// - Parameters:
    ///   - body: the received body of the response.
    ///   - error: the load's error.
    func entry(_ body: RecordedBody?, at end: Date, error: (any Error)? = nil) -> HAREntry {
        let answer = slot.answer
        let head = answer?.loaded.response as? HTTPURLResponse
        var response = head.map { self.response($0, body, isWhole: error == nil) } ?? HARResponse(status: 0)
        if let error { describe(error, in: &response) }
        var timings = HARTimings()
        timings.wait = milliseconds(from: slot.start, to: answer?.time ?? end)
        timings.receive = answer.map { milliseconds(from: $0.time, to: end) } ?? 0
        var entry = HAREntry(
            startedDateTime: HARDate(slot.start), request: request(), response: response, timings: timings)
        if let answer { entry.add(answer.loaded.transactionMetrics) }
        return entry
    }

    private func milliseconds(from start: Date, to end: Date) -> Double {
        let time = end.timeIntervalSince(start) * 1_000
        return time.isFinite ? (max(time, 0) * 1_000).rounded() / 1_000 : 0
    }

    // MARK: The request

    private func request() -> HARRequest {
        let request = slot.request
        var made = HARRequest(
            method: request.httpMethod ?? "GET", url: redactor.url(request.url?.absoluteString ?? ""),
            headers: request.headerFields.map { HARNameValue(name: $0.name, value: redactor.field($0.name, $0.value)) })
        if let cookies = request.value(forHTTPHeaderField: "Cookie") {
            made.cookies = redactor.field("Cookie", cookies).split(separator: ";").map { HARCookie(pair: $0) }
        }
        if let body = slot.body {
            made.bodySize = body.size
            if body.size > 0 { made.postData = postData(body, request.value(forHTTPHeaderField: "Content-Type")) }
        }
        return made
    }

    private func postData(_ body: RecordedBody, _ contentType: String?) -> HARPostData {
        var made = HARPostData(mimeType: contentType ?? "", text: "")
        guard recorder.options.recordsBodies, let data = body.data else {
            made.comment = "The body was not recorded: \(body.size) bytes."
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
            made.params = NamedValue.list(ofForm: made.text).map { HARParameter(name: $0.name, value: $0.value) }
        }
        return made
    }

    /// The bytes as text, or as base64 where they are not text.
    private static func text(of bytes: [UInt8]) -> (text: String, encoding: String?) {
        if !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) { return (text, nil) }
        return (Data(bytes).base64EncodedString(), "base64")
    }

    // MARK: The response

    private func response(_ head: HTTPURLResponse, _ body: RecordedBody?, isWhole: Bool) -> HARResponse {
        let type = head.value(forHTTPHeaderField: "Content-Type")
        var content = HARContent(size: body?.size ?? 0, mimeType: type ?? "x-unknown")
        if !isWhole {
            content.comment = "The body is not whole."
        } else if recorder.options.recordsBodies, let data = body?.data {
            (content.text, content.encoding) = Self.text(of: redactor.body(Array(data), type))
        } else if let body, body.size > 0 {
            content.comment = "The body was not recorded: \(body.size) bytes."
        }
        var fields: [HARNameValue] = []
        var cookies: [HARCookie] = []
        for (name, value) in head.headerFields {
            let value = redactor.field(name, value)
            if name.lowercased() == "set-cookie" {
                let lines = SetCookieField.split(value)
                fields += lines.map { HARNameValue(name: name, value: $0) }
                cookies += lines.map(HARCookie.init(line:))
            } else {
                fields.append(HARNameValue(name: name, value: value))
            }
        }
        let isRedirect = [301, 302, 303, 307, 308].contains(head.statusCode)
        let location = head.value(forHTTPHeaderField: "Location").map(redactor.url)
        var made = HARResponse(
            status: head.statusCode, statusText: HTTPURLResponse.localizedString(forStatusCode: head.statusCode),
            headers: fields, content: content, redirectURL: isRedirect ? location ?? "" : "")
        made.cookies = cookies
        return made
    }

    /// Describes the error as Chrome does, with the code for its replay.
    private func describe(_ error: any Error, in response: inout HARResponse) {
        let code = (error as? URLError)?.code ?? (error is CancellationError ? .cancelled : .unknown)
        response.others["_error"] = .string(
            code == .cancelled ? "cancelled" : Redactor.withoutUsers(error.localizedDescription))
        response.others["_urlErrorCode"] = .integer(Int64(code.rawValue))
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
            case "expires":
                // Old servers send `21-Oct-2037`.
                let text = value.replacing("-", with: " ")
                let seconds = HTTPDate.parse(text, now: Date().timeIntervalSince1970)
                expires = seconds.map { HARDate(Date(timeIntervalSince1970: Double($0))).description }
            case "samesite": others["sameSite"] = .string(value)
            default: break
            }
        }
    }
}
