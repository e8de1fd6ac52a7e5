import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// One sending of a request, and its response. An exchange makes a new transaction for each sending: for a further step
/// of authentication, after status 417, and after a connection was lost that had taken a part of the request.
struct HTTPTransaction {
    var fields: HTTPFields
    /// Whether the cookies in the fields come from the storage, not from the program.
    var sendsStoredCookies = false
    /// Whether the body waits for the server's consent.
    private(set) var expectsContinue = false
    /// Whether the transaction has added `Expect` to the caller's fields.
    private var addsExpectation = false
    /// Whether the server's certificate was accepted although its validation failed. The response is not shared with
    /// tasks whose delegates might not accept it.
    private(set) var isServerUntrusted = false
    private(set) var response: HTTPURLResponse?
    /// Over HTTP/2 they may arrive before the response object is made, while the program decides about a redirect.
    private var trailers: HTTPFields?
    /// Nil if the receiver gets the content without decoding.
    private(set) var decoding: BodyDecoding?
    private(set) var codedBytesWithoutOutput = 0
    /// The number of bytes that count as progress although the decoder returns no output: twice the largest block of
    /// any coding (zstd's, RFC 8878 §3.1.1.2.4).
    private static let mostWithoutOutput = 256 * 1024
    /// Checks by the content that the server knows the password.
    var bodyCheck: DigestBodyCheck?
    var timings: TransactionTimings
    /// The lines of the head as it was sent, where the task keeps it.
    var sentLines: (@Sendable () -> [String])?
    private(set) var isReported = false

    init(fields: HTTPFields = HTTPFields(), sendsStoredCookies: Bool = false, fetchStart: MonotonicTime? = nil) {
        self.fields = fields
        self.sendsStoredCookies = sendsStoredCookies
        timings = TransactionTimings(fetchStart: fetchStart)
    }

    // MARK: The request

    /// The fields with which the next transaction begins.
    var fieldsToSendAgain: HTTPFields {
        var fields = fields
        if addsExpectation { fields.remove(.expect) }
        return fields
    }

    /// Decides whether the body waits for the server's consent. A caller's own `Expect: 100-continue` is kept if there is
    /// a body (RFC 9110 §10.1.1). Over HTTP/1.1 a long body gets this field. Over HTTP/2 a server that refuses a body
    /// resets its stream.
    mutating func decideContinue(_ body: RequestBody, isRefused: Bool, asksForLongBodies: Bool) -> Bool {
        expectsContinue = false
        if isRefused { return false }
        if let expectation = fields[.expect] {
            let awaitsContinue = expectation.lowercased() == "100-continue"
            expectsContinue = awaitsContinue && body.expectedCount != 0
            if awaitsContinue, !expectsContinue { fields.remove(.expect) }
        } else if asksForLongBodies, body.waitsForContinue {
            fields.append(.expect, "100-continue")
            (expectsContinue, addsExpectation) = (true, true)
        }
        return expectsContinue
    }

    mutating func requestWillBegin(
        on connection: ConnectionMetrics, isReused: Bool, isServerUntrusted: Bool, at time: MonotonicTime
    ) {
        self.isServerUntrusted = isServerUntrusted
        timings.beginRequest(on: connection, isReused: isReused, at: time)
    }

    /// The connection has taken nothing of the request, which waits for another one.
    mutating func connectionWillChange() {
        timings = TransactionTimings(fetchStart: timings.fetchStart)
        sentLines = nil
    }

    mutating func didFailToConnect(_ timings: ConnectTimings) {
        self.timings.connection = ConnectionMetrics(failed: timings)
        self.timings.isReusedConnection = false
    }

    mutating func didSendBody(_ count: Int, framing: Int) {
        timings.requestBodyBytesSent += Int64(count &+ framing)
        timings.requestBodyBytesBeforeEncoding += Int64(count)
    }

    // MARK: The response

    mutating func didReceive(_ response: HTTPURLResponse) {
        self.response = response
        if let trailers { response.trailers = trailers }
    }

    mutating func didReceive(trailers: HTTPFields) {
        guard !trailers.isEmpty else { return }
        self.trailers = trailers
        response?.trailers = trailers
    }

    mutating func willDecode(
        _ head: ResponseHead, hasBody: Bool, keepsCodings: Bool, ratio: Int, buffer: UnsafeMutableRawBufferPointer
    ) throws(LoadFailure) {
        decoding = try BodyDecoding.make(
            for: head, hasBody: hasBody, keepsCodings: keepsCodings, ratio: ratio, buffer: buffer, check: bodyCheck)
    }

    /// Whether the body goes to its receiver without decoding or check.
    var isBodyPlain: Bool { decoding == nil && bodyCheck == nil }

    var hasDecodedPending: Bool { decoding?.hasPending == true }

    mutating func didReceivePlainBody(_ count: Int) {
        timings.responseBodyBytesReceived += Int64(count)
        timings.responseBodyBytesAfterDecoding += Int64(count)
    }

    mutating func didReceiveFraming(_ count: Int) {
        timings.responseBodyBytesReceived += Int64(count)
        timings.responseFramingBytesReceived += Int64(count)
    }

    mutating func didReceiveBody(_ bytes: UnsafeRawBufferPointer) {
        timings.responseBodyBytesReceived += Int64(bytes.count)
        codedBytesWithoutOutput += bytes.count
        if decoding?.feedsCheck != true { bodyCheck?.update(bytes) }
    }

    /// Whether bytes without output still count as progress of the response.
    var isDecodingOn: Bool { codedBytesWithoutOutput > 0 && codedBytesWithoutOutput <= Self.mostWithoutOutput }

    mutating func didDeliver(_ count: Int) {
        timings.responseBodyBytesAfterDecoding += Int64(count)
        codedBytesWithoutOutput = 0
    }

    func finish() throws {
        try decoding?.finish()
        try bodyCheck?.finish()
    }

    // MARK: The record

    mutating func willReport() {
        isReported = true
        timings.resourceFetchType = .networkLoad
    }

    func record(of request: URLRequest) -> TransactionRecord {
        TransactionRecord(timings: timings, request: request, response: response, sentLines: sentLines)
    }
}
