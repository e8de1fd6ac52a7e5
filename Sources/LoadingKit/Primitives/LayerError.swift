/// An error of a layer below the session: a codec's, or the transport's.
///
/// A layer does not use the errors of other layers, nor Foundation's error codes. Its errors have a category and a
/// description in plain words. Core makes users' `URLError`s from both, and need not import any codec.
package protocol LayerError: Error, CustomStringConvertible {
    var category: LayerErrorCategory { get }
}

/// The category of an error, as far as it matters to a load.
package enum LayerErrorCategory: Sendable {
    // The request.
    case invalidRequest
    /// The body has fewer or more bytes than the request announced.
    case wrongBodyLength

    // The connection to the server.
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
    /// The response is well formed, but is not a valid response to the request.
    case unexpectedResponse
    /// The response exceeds a limit or the available memory.
    case tooLong
    case undecodableContent
}
