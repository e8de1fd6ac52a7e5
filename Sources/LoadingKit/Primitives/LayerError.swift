/// An error of a layer below the session: a codec's, or the transport's.
///
/// A layer knows neither the errors of other layers nor Foundation's error codes. It gives the category of what went wrong,
/// and a description in plain words. Core makes the `URLError` that users see of both, and imports no codec for that.
package protocol LayerError: Error, CustomStringConvertible {
    var category: LayerErrorCategory { get }
}

/// What went wrong, as far as it matters to a load.
package enum LayerErrorCategory: Sendable {
    // The request.
    case invalidRequest
    /// The body has fewer or more bytes than the request announced.
    case wrongBodyLength

    // The way to the server.
    case noNetwork
    case hostNotFound
    case nameLookupFailed
    case cannotConnect
    case connectionLost
    case timedOut
    case cancelled

    // TLS.
    case secureConnectionFailed
    case certificateExpired
    case certificateNotYetValid
    case unknownCertificateAuthority
    case untrustedCertificate
    case clientCertificateRequired
    case clientCertificateRejected

    // The response.
    case unparsableResponse
    /// The response is well formed, and not one that answers the request.
    case unexpectedResponse
    /// The response is longer than a limit, or than the memory there is.
    case tooLong
    case undecodableContent
}
