import Foundation

/// A failure in plain words, with the code that users see.
package struct LoadFailure: LocalizedError, CustomStringConvertible {
    package let code: URLError.Code
    package let description: String

    package init(_ code: URLError.Code, _ description: String) {
        self.code = code
        self.description = description
    }

    package var errorDescription: String? { description }

    package static let nothingStored = LoadFailure(
        .resourceUnavailable, "nothing is stored, and returnCacheDataDontLoad does not let the server be asked")
}

/// An error of a program's own handler. The program gets it back as it is: no layer looks into it but for `URLError`s.
struct HandlerError: Error {
    let error: any Error

    /// The error that the program is told: that of its own handler, or the `URLError` of a layer's. An `NSError` of
    /// `NSURLErrorDomain` is the `URLError` of its code.
    ///
    /// - Parameter url: the URL that failed to load; nil where the request had none.
    static func unwrapped(_ error: any Error, url: URL?) -> any Error {
        guard let own = (error as? HandlerError)?.error else { return URLError(error, url: url) }
        return own.isOfProgram ? own : URLError(own, url: url)
    }
}

extension Error {
    /// Whether it is not one that a handler was given by this library, nor a `URLError` in another form.
    fileprivate var isOfProgram: Bool {
        switch self {
        case is URLError, is LoadFailure, is CancellationError: false
        default: URLError.Code(of: self) == nil
        }
    }
}
