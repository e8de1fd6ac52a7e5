import Foundation
import LoadingKit

/// Why the tool, or one of its loads, ends without success.
struct ToolFailure: Error, Hashable {
    let status: ToolStatus
    /// Plain words; nil where nothing is to be said, as when the reader of the output went away.
    let reason: String?

    init(_ status: ToolStatus, _ reason: String?) {
        self.status = status
        self.reason = reason
    }

    /// Why a load failed.
    init(_ error: any Error, hadResponse: Bool) {
        let error = error as? URLError ?? URLError(.unknown, userInfo: [NSUnderlyingErrorKey: error])
        self.init(ToolStatus(error, hadResponse: hadResponse), error.localizedDescription)
    }

    /// What goes to standard error; empty where nothing is to be said.
    var line: String {
        reason.map { "loadkit: (\(status.rawValue)) \(PlainText.line($0))\n" } ?? ""
    }
}
