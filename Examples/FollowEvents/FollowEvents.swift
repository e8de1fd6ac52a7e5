import Foundation
import LoadingKit
import LoadingKitEvents

/// Prints a server's events as they come, and connects again when the connection is lost.
///
///     swift run FollowEventsExample https://example.org/events
@main
enum FollowEvents {
    static func main() async {
        guard let url = CommandLine.arguments.dropFirst().first.flatMap({ URL(string: $0) }) else {
            print("usage: FollowEventsExample URL")
            exit(2)
        }
        var options = EventStreamOptions()
        options.reconnection.maximumAttempts = 5
        let events = URLSession.shared.events(from: url, options: options)
        do {
            for try await event in events { print("\(event.event) \(event.id): \(event.data)") }
            print("no more events")  // the server has answered 204 (No Content)
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }
}
