/// All that is known of one stream that is open or half closed. Plain numbers, so that a table of them is one block of
/// memory in which a frame finds its stream without a reference being counted.
struct Stream {
    /// Whether the caller is told when the window opens.
    var isBlocked = false
    /// Whether what comes as the body is dropped: of the response to HEAD, whose length is that of another body.
    var expectsNoBody = false
    var state = StreamState.open(sending: .head, receiving: .head(interims: 0))
    var sendWindow = SendWindow(0)
    var receiveWindow = ReceiveWindow(available: 0, target: 0)
    /// Bytes that content-length promises and that have not come; -1 where it says nothing.
    var missingBytes: Int64 = -1
}
