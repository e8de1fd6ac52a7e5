/// Counts frames that bring nothing against those that do, as there is no clock here: see ``HTTP2Limits``.
struct HTTP2FloodGuard: Sendable {
    private let limits: HTTP2Limits
    private var credit: Int
    private var usefulBytes = 0
    private var resets = 0

    init(_ limits: HTTP2Limits) {
        self.limits = limits
        credit = limits.uselessFrames
    }

    mutating func countUseless(_ what: String) throws(HTTP2Error) {
        credit -= 1
        guard credit >= 0 else { throw .connection(.enhanceYourCalm, "too many frames of no use, the last: \(what)") }
    }

    mutating func countUseful(bytes: Int) {
        usefulBytes += bytes
        guard usefulBytes >= limits.usefulBytesPerFrame else { return }
        credit = min(limits.uselessFrames, credit + usefulBytes / limits.usefulBytesPerFrame)
        usefulBytes %= limits.usefulBytesPerFrame
    }

    /// A head comes with a WINDOW_UPDATE or two, and an end.
    mutating func countMessage() { credit = min(limits.uselessFrames, credit + 4) }

    mutating func countReset() throws(HTTP2Error) {
        resets += 1
        guard resets <= limits.resetStreams else {
            throw .connection(.enhanceYourCalm, "too many streams opened to be reset")
        }
    }

    mutating func countEnd() { resets = max(0, resets - 1) }
}
