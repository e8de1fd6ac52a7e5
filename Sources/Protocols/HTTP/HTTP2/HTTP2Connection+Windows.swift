import LoadingKitHTTP2
import LoadingKitPrimitives

/// How much the server may send to each stream: what its reader takes, and within ``WindowBudget``.
extension HTTP2Connection {
    /// The reader of a stream has taken bytes, and may have been waited for.
    ///
    /// - Parameter isFluent: whether it took them as they came, and has room for more.
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

    /// As far as there is something left. Gives whether the window is larger than before.
    func enlargeWindow(of carried: HTTP2ClientStream, to size: Int) -> Bool {
        // A stream whose last byte has come needs no window.
        guard codec.isReceiving(on: carried.number) else { return false }
        let granted = windows.take(min(size, BandwidthEstimator.maximumStream) - carried.window)
        guard granted > 0 else { return false }
        carried.windowDidGrow(by: granted)
        codec.setReceiveWindow(carried.window, of: carried.number)
        return true
    }
}
