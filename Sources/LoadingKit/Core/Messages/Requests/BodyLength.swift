/// Compares what a body's source delivers with the length that the request states: a value.
@_spi(LoadingKitPlugins)
public struct BodyLength: Sendable {
    /// The number of bytes that the source has still to deliver; nil if the request does not state the body's length.
    private var remaining: Int64?

    public init(stated: Int64?) { remaining = stated }

    /// Counts the bytes of a piece; nil at the body's end.
    ///
    /// - Throws: `URLError.requestBodyStreamExhausted`, as the error of a load, if the body is longer or shorter than the
    ///   request states.
    public mutating func count(_ bytes: Int?) throws {
        guard let before = remaining else { return }
        let left = before - Int64(bytes ?? 0)
        guard left >= 0, bytes != nil || left == 0 else {
            let text = "the request's body is \(left < 0 ? "longer" : "shorter") than its Content-Length"
            throw LoadFailure(.requestBodyStreamExhausted, text)
        }
        remaining = left
    }
}
