import LoadingKitCore
import LoadingKitHTTP2

extension HTTP2Connection {
    /// - Parameter listsStreams: whether the streams are wanted, not only their number.
    func state(listsStreams: Bool) -> ConnectionState {
        let listed = streams.ids.compactMap(find)
        var now = ConnectionState(stream.info, .http2, life.isOpen ? (listed.isEmpty ? .idle : .active) : .closing)
        now.requestCount = requestCount
        now.http2 = ConnectionState.HTTP2(
            openStreams: listed.count, allowedStreams: codec.availableStreams + codec.openStreamCount,
            windows: windows(of: .connection), streams: listsStreams ? listed.map(state) : [])
        return now
    }

    private func state(of stream: HTTP2ClientStream) -> ConnectionState.Stream {
        ConnectionState.Stream(
            number: stream.number.rawValue, task: stream.exchange?.taskIdentifier, isSending: stream.body != nil,
            isReceiving: codec.isReceiving(on: stream.number), windows: windows(of: stream.number))
    }

    private func windows(of stream: HTTP2StreamID) -> ConnectionState.Windows {
        ConnectionState.Windows(send: codec.sendWindow(for: stream), receive: codec.receiveWindow(for: stream))
    }
}
