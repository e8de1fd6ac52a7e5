import CMeter

/// Ends the process: only runs whose every load succeeded count.
public func fail(_ message: String) -> Never { client_fail(message) }
