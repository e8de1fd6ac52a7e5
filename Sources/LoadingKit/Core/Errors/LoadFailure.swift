import Foundation

/// A failure in plain words, with the error code that users see.
package struct LoadFailure: LocalizedError, CustomStringConvertible {
    package let code: URLError.Code
    package let description: String
    /// The reason why no network could be used; nil for other failures.
    package let unavailability: URLError.NetworkUnavailableReason?
    /// Whether a new load of the same request would be made in another way, so that the task loads it anew if it can.
    package let needsNewLoad: Bool

    package init(
        _ code: URLError.Code, _ description: String, unavailability: URLError.NetworkUnavailableReason? = nil,
        needsNewLoad: Bool = false
    ) {
        self.code = code
        self.description = description
        self.unavailability = unavailability
        self.needsNewLoad = needsNewLoad
    }

    package var errorDescription: String? { description }

    package static let nothingStored = LoadFailure(
        .resourceUnavailable, "no response is stored, and the policy returnCacheDataDontLoad forbids loading it")
}

/// An error of a program's own handler. The program gets the same error back: layers inspect it only for `URLError`s.
struct HandlerError: Error {
    let error: any Error

    /// The error that is reported to the program: the error of its own handler, or the `URLError` for a layer's error.
    /// An `NSError` of `NSURLErrorDomain` becomes the `URLError` with its code.
    ///
    /// - Parameter url: the URL that failed to load; nil where the request had none.
    static func unwrapped(_ error: any Error, url: URL?) -> any Error {
        guard let own = (error as? HandlerError)?.error else { return URLError(error, url: url) }
        return own.isOfProgram ? own : URLError(own, url: url)
    }
}

extension Error {
    /// Whether the error is neither one that this library gave to a handler, nor a `URLError` in another form.
    fileprivate var isOfProgram: Bool {
        switch self {
        case is URLError, is LoadFailure, is CancellationError: false
        default: URLError.Code(of: self) == nil
        }
    }
}
