import Foundation
import LoadingKit

/// One URL to load, and where its body goes.
struct PlannedLoad: Sendable {
    /// As it was given.
    let argument: String
    let request: URLRequest
    let destination: Destination

    init(_ argument: String, to destination: Destination, _ template: RequestTemplate) throws {
        self.argument = argument
        self.destination = destination
        request = try template.request(for: URLArgument(argument))
    }
}
