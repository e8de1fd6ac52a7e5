/// Waits for a change of which nothing tells, by asking again and again. What tells of its changes is awaited instead.
///
/// - Throws: `CancellationError` when the task is cancelled, as ``withTimeout(_:seconds:_:)`` and the time limit of a
///   suite do.
package func waitUntil(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    while !(try await condition()) {
        try Task.checkCancellation()
        await Task.yield()
    }
}
