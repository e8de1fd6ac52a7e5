import Foundation

/// Why a `sample:` URL was not loaded. It reaches the program as it is: `error as? SampleSchemeError`.
public enum SampleSchemeError: Error, Hashable, LocalizedError {
    /// The URL has no text, or a host before it.
    case textMissing(URL)
    /// The URL's `count` is no number from 0 to 1,000,000.
    case countInvalid(String)
    /// The request's method is not GET.
    case methodNotSupported(String)

    /// The mistake, and its remedy.
    public var errorDescription: String? {
        switch self {
        case .textMissing(let url):
            "\(url) has no text: write it as sample:hello"
        case .countInvalid(let count):
            "the count \(count) is no number from 0 to \(SampleResource.maximumCount)"
        case .methodNotSupported(let method):
            "sample: URLs are loaded with GET, and not with \(method)"
        }
    }
}
