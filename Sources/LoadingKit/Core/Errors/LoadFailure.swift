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
}
