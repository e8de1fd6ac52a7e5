/// What has to be received next on a stream.
enum ReceivePhase {
    /// Header fields; so many interim responses have come.
    case head(interims: UInt8)
    /// DATA, or trailers.
    case body
}
