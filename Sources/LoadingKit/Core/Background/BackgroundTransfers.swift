/// The performer of the transfers of background sessions: the daemon, reached over a socket, or the program itself.
package protocol BackgroundTransfers: Sendable {
    /// Makes the channel of a session that is not attached yet: no event comes before ``TransferChannel/attach()``.
    ///
    /// - Parameter receive: called with the session's events, one after the other, on any thread; must not block.
    func makeChannel(
        for session: SessionDescription, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferChannel
}

extension BackgroundTransfers {
    /// The function that makes the channels of a session.
    package func channels(for session: SessionDescription) -> TransferChannelMaker {
        { makeChannel(for: session, receive: $0) }
    }
}
