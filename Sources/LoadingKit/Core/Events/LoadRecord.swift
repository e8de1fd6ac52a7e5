import Foundation
import LoadingKitPrimitives

/// The steps of a load that has failed. It is behind the load's own error in the `URLError` that the program gets, and is made
/// into text when somebody reads it.
struct LoadRecord: LocalizedError, CustomStringConvertible {
    /// The key of the errors beside that of `NSUnderlyingErrorKey`, as on Apple's systems.
    static let key = "NSMultipleUnderlyingErrorsKey"

    private enum Content: Sendable {
        case steps(LoadSteps, title: String, end: MonotonicTime)
        /// From another process.
        case text(String)
    }

    private let content: Content

    init(_ steps: LoadSteps, title: String, end: MonotonicTime) { content = .steps(steps, title: title, end: end) }

    init(text: String) { content = .text(text) }

    var description: String {
        switch content {
        case .text(let text): text
        case .steps(let steps, let title, let end):
            "\(title), after \(TimeScale.duration(end.seconds(since: steps.start))):\n\(steps.text)"
        }
    }

    var errorDescription: String? { description }
}

extension URLError {
    /// The steps of the load that has failed: when each began, how long it took, and on which connection. Nil in errors of
    /// the program's own handlers, after a cancellation, and where ``URLSessionConfiguration/recordsEvents`` is false.
    ///
    /// The text has a line for each step, and at most about 40. It is for human readers, and its form may change. It has the
    /// scheme, the host and the port of URLs, addresses, and names of cookies, and none of the values that are sent.
    public var loadRecord: String? { record?.description }

    private var record: LoadRecord? {
        for case let record as LoadRecord in userInfo[LoadRecord.key] as? [any Error] ?? [] { return record }
        return nil
    }

    /// The error with a record behind its own underlying error; unchanged where it has one.
    func adding(_ record: LoadRecord?) -> URLError {
        guard let record, self.record == nil else { return self }
        let others = userInfo[LoadRecord.key] as? [any Error] ?? []
        return URLError(code, userInfo: userInfo.merging([LoadRecord.key: others + [record]]) { $1 })
    }
}

extension SessionEvents {
    /// The record of a task that fails with an error of the library; nil where its events were not kept.
    func loadRecord(ofTask identifier: Int, title: String) -> LoadRecord? {
        LoadSteps(of: Int32(truncatingIfNeeded: identifier), in: records).map {
            LoadRecord($0, title: title, end: now)
        }
    }
}

/// URLs without the parts that may hold a secret.
package enum ShownURL {
    /// Scheme, host and port; the scheme alone where there is no host.
    static func origin(_ url: URL) -> String {
        let scheme = url.scheme.map { "\($0):" } ?? ""
        guard let host = url.host, !host.isEmpty else { return scheme }
        let port = url.port.map { ":\($0)" } ?? ""
        let isAddress = host.utf8.contains(UInt8(ascii: ":")) && !host.hasPrefix("[")
        return Columns.printable("\(scheme)//\(isAddress ? "[\(host)]" : host)\(port)")
    }

    /// Without user, password, query and fragment. URLs without a host, such as `data:`, may have data in place of a path.
    package static func withoutSecrets(_ url: URL) -> String {
        url.isFileURL || url.host?.isEmpty == false ? origin(url) + Columns.printable(url.path) : origin(url)
    }
}
