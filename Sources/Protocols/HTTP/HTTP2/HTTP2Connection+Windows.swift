import LoadingKitHTTP2
import LoadingKitPrimitives

/// The flow-control windows of the streams: they follow the bytes that the readers take, within ``WindowBudget``.
extension HTTP2Connection {
    /// The reader of a stream has taken bytes. The bytes may have waited for the reader.
    ///
    /// - Parameter isFluent: whether the reader took the bytes on arrival and has room for more.
    func readerDidTake(_ count: Int, of carried: HTTP2ClientStream, isFluent: Bool) {
        if isFluent { noteFluentReading(count, carried) }
        codec.openWindow(of: carried.number, by: count)
    }

    private func noteFluentReading(_ count: Int, _ carried: HTTP2ClientStream) {
        if carried.window < BandwidthEstimator.fluentStream {
            guard let size = carried.noteTaken(count) else { return }
            _ = enlargeWindow(of: carried, to: size)
        } else if bandwidth.readerDidTake(count, of: carried.number, window: carried.window, loop.now) {
            codec.sendPing(KeepAlivePing.windowPing, to: &output.frames)
        }
    }

    /// Enlarges a window as far as the budget allows. Returns whether the window has grown.
    func enlargeWindow(of carried: HTTP2ClientStream, to size: Int) -> Bool {
        // A stream whose last byte has arrived needs no window.
        guard codec.isReceiving(on: carried.number) else { return false }
        let granted = windows.take(min(size, BandwidthEstimator.maximumStream) - carried.window)
        guard granted > 0 else { return false }
        carried.windowDidGrow(by: granted)
        codec.setReceiveWindow(carried.window, of: carried.number)
        return true
    }
}
