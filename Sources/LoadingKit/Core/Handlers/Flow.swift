/// Whether a handler may deliver more.
package enum Flow: Sendable {
    /// The receiver has room.
    case more
    /// The receiver is busy (suspended, undecided, behind): deliver no more until `receiverDidBecomeReady()`.
    case wait
}
