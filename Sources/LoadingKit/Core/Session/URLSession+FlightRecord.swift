extension URLSession {
    /// The session's last events, a line for each, the oldest first: about a thousand, or those since the session was made.
    /// Their times are relative to this call. Empty lines but the first where ``URLSessionConfiguration/recordsEvents`` is
    /// false.
    ///
    /// The text is for human readers, and its form may change. It has addresses, statuses and reasons, and neither URLs nor
    /// any values that are sent.
    public var flightRecord: String {
        get async {
            let record = await withCheckedContinuation { continuation in
                core.readEvents { continuation.resume(returning: FlightRecord($0)) }
            }
            return record.text
        }
    }
}
