import Foundation
import LoadingKitCore

/// The rules of a recording: its options, and what its entries show.
package struct HARRules: Sendable {
    /// Whose traffic a recording shows.
    package enum Perspective: Sendable {
        /// The requests that the program makes: one entry for each load.
        case program
        /// The requests that are sent: one entry for each, with the fields that the session adds.
        case network
    }

    let perspective: Perspective
    package let redactor: Redactor
    /// The largest size of a recorded body, in bytes; nil where no bodies are recorded.
    let bodyLimit: Int?
    /// The schemes of the recorded requests, in lower case; nil for all.
    private let schemes: Set<String>?

    package init(_ perspective: Perspective, _ redaction: HARRedaction, bodyLimit: Int?, schemes: [String]? = nil) {
        self.perspective = perspective
        self.bodyLimit = bodyLimit.map { max($0, 0) }
        self.schemes = schemes.map { Set($0.map { $0.lowercased() }) }
        redactor = Redactor(redaction)
    }

    func records(_ request: URLRequest) -> Bool {
        guard let schemes else { return true }
        return request.url?.scheme.map { schemes.contains($0.lowercased()) } ?? false
    }
}
