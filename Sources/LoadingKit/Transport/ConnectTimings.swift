import LoadingKitPrimitives

/// When the steps of making a connection began and ended; `nil` for steps that there were none of.
package struct ConnectTimings: Sendable, Hashable {
    package var resolveStart: MonotonicTime?
    package var resolveEnd: MonotonicTime?
    package var connectStart: MonotonicTime?
    package var connectEnd: MonotonicTime?
    package var tlsStart: MonotonicTime?
    package var tlsEnd: MonotonicTime?

    package init() {}
}
