import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// One request that is sent, and its response. An exchange makes a new one for each: for a further step of authentication,
/// after 417, and where a connection that died had taken a part of the request.
struct HTTPTransaction {
    var fields: HTTPFields
    /// Whether the cookies among them are the storage's, and not the program's own.
    var sendsStoredCookies = false
    /// Whether the body waits until the server wants it.
    private(set) var expectsContinue = false
    /// Whether the server's certificate was accepted though it failed: the response is not for tasks whose delegates would
    /// not accept it.
    private(set) var isServerUntrusted = false
    private(set) var response: HTTPURLResponse?
    /// Over HTTP/2 they may be there before the response is made: while the program is asked about a redirect, for example.
    private var trailers: HTTPFields?
    /// Nil where the receiver gets the content as it comes.
    private(set) var decoding: BodyDecoding?
    /// Bytes of the body that have come since something was decoded.
    private(set) var codedBytesWithoutOutput = 0
    /// Bytes of the body that may come for nothing and be signs of life all the same: twice what the largest block of a coding
    /// has (zstd's, RFC 8878 §3.1.1.2.4). What goes on beyond that is none.
    private static let mostWithoutOutput = 256 * 1024
    /// Looks at the response's content, to see that the server has proved itself.
    private var bodyCheck: DigestBodyCheck?
    var timings: TransactionTimings
    /// Whether the receiver has the transaction's record.
    private(set) var isReported = false

    init(fields: HTTPFields = HTTPFields(), sendsStoredCookies: Bool = false, fetchStart: MonotonicTime? = nil) {
        self.fields = fields
        self.sendsStoredCookies = sendsStoredCookies
        timings = TransactionTimings(fetchStart: fetchStart)
    }

    // MARK: The request

    /// Decides whether the body waits until the server wants it. A caller's own `Expect: 100-continue` is kept; over HTTP/1.1
    /// a long body gets one. Over HTTP/2 a server that does not want a body resets its stream.
    mutating func decideContinue(_ body: RequestBody, isRefused: Bool, asksForLongBodies: Bool) -> Bool {
        expectsContinue = false
        if isRefused { return false }
        if let expectation = fields[.expect] {
            expectsContinue = expectation.lowercased() == "100-continue" && body.expectedCount != 0
        } else if asksForLongBodies, body.waitsForContinue {
            fields.append(.expect, "100-continue")
            expectsContinue = true
        }
        return expectsContinue
    }

    mutating func requestWillBegin(
        on connection: ConnectionMetrics, isReused: Bool, isServerUntrusted: Bool, at time: MonotonicTime
    ) {
        self.isServerUntrusted = isServerUntrusted
        timings.beginRequest(on: connection, isReused: isReused, at: time)
    }

    /// No connection was made.
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

    /// Makes what undoes the codings of the response.
    ///
    /// - Parameters:
    ///   - keepsCodings: whether those of the content stay.
    ///   - ratio: by how much decoding may expand the body.
    ///   - buffer: where a piece of it is decoded to.
    mutating func willDecode(
        _ head: ResponseHead, hasBody: Bool, keepsCodings: Bool, ratio: Int, buffer: UnsafeMutableRawBufferPointer
    ) throws(LoadFailure) {
        decoding = try BodyDecoding.make(
            for: head, hasBody: hasBody, keepsCodings: keepsCodings, ratio: ratio, buffer: buffer, check: bodyCheck)
    }

    /// - Parameter check: what sees from the response's content that the server has proved itself.
    mutating func willCheckBody(by check: DigestBodyCheck?) { bodyCheck = check }

    var checksBody: Bool { bodyCheck != nil }

    func noteProof(_ information: [String: String]) { bodyCheck?.noteTrailers(information) }

    /// Whether the body goes to its receiver as it comes.
    var isBodyPlain: Bool { decoding == nil && bodyCheck == nil }

    /// Whether the receiver has not taken all that was decoded.
    var hasDecodedPending: Bool { decoding?.hasPending == true }

    /// Bytes of the body have come, and the receiver has them as they are.
    mutating func didReceivePlainBody(_ count: Int) {
        timings.responseBodyBytesReceived += Int64(count)
        timings.responseBodyBytesAfterDecoding += Int64(count)
    }

    /// Bytes of the body have come.
    mutating func didReceiveBody(_ bytes: UnsafeRawBufferPointer) {
        timings.responseBodyBytesReceived += Int64(bytes.count)
        codedBytesWithoutOutput += bytes.count
        if decoding?.feedsCheck != true { bodyCheck?.update(bytes) }
    }

    /// Whether the server, which sends bytes that do not yet decode to anything, may be about to send more of use.
    var isDecodingOn: Bool { codedBytesWithoutOutput > 0 && codedBytesWithoutOutput <= Self.mostWithoutOutput }

    mutating func didDeliver(_ count: Int) {
        timings.responseBodyBytesAfterDecoding += Int64(count)
        codedBytesWithoutOutput = 0
    }

    /// The response is complete, and was taken whole.
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
        TransactionRecord(timings: timings, request: request, response: response)
    }
}
