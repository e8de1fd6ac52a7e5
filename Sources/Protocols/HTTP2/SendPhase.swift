/// What may be sent next on a stream.
enum SendPhase {
    /// A request's or response's header fields; interim responses before them.
    case head
    /// DATA, or trailers.
    case body
}
