import Foundation

/// The error when a form's body cannot be made, or could not be sent.
public enum MultipartFormError: Error, Sendable, Equatable, LocalizedError, CustomStringConvertible {
    /// The boundary is empty, has more than 70 characters, ends with a space or has a character that is not allowed.
    case invalidBoundary(String)
    /// The form's boundary occurs in the content of this part.
    case boundaryOccurs(part: String)
    /// A field of this part's head, possibly `Content-Type`, cannot be sent: by a line end in its value, or by its
    /// name.
    case invalidField(part: String, field: String)
    /// The length of this part is not known, and chunks are not permitted (``MultipartOptions/allowsUnknownLength``).
    case unknownLength(part: String)
    /// A given length is negative, or the body has more than `Int64.max` bytes.
    case invalidLength(part: String)
    /// The file cannot be opened or read, with this `errno`, for example because it was deleted.
    case unreadableFile(path: String, errno: Int32)
    /// The object at this path is a folder, a pipe or something else without a length.
    case notARegularFile(path: String)
    /// The file had the size `expected` when the body was made, and `found` when it was sent, in bytes.
    case fileChanged(path: String, expected: Int64, found: Int64)
    /// The stream or sequence had more or fewer bytes than its length. Where it had more, `found` is a lower bound.
    case wrongLength(part: String, expected: Int64, found: Int64)
    /// The part's stream or sequence failed; the text has the reason.
    case sourceFailed(part: String, reason: String)

    /// The description in plain words.
    public var description: String {
        switch self {
        case .invalidBoundary(let boundary): "the form's boundary is not valid (RFC 2046, section 5.1.1): \(boundary)"
        case .boundaryOccurs(let part): "the form's boundary occurs in the content of part \(part)"
        case .invalidField(let part, let field): "the field \(field) of part \(part) cannot be sent"
        case .unknownLength(let part):
            "the length of part \(part) is not known: give it, or set allowsUnknownLength to send chunks"
        case .invalidLength(let part): "the length of part \(part) is negative, or too large"
        case .unreadableFile(let path, let errno):
            "the file \(path) cannot be read: \(String(cString: strerror(errno)))"
        case .notARegularFile(let path): "\(path) is not a regular file"
        case .fileChanged(let path, let expected, let found):
            "the file \(path) had \(expected) bytes when the form was made, and \(found) when it was sent"
        case .wrongLength(let part, let expected, let found):
            "part \(part) was to have \(expected) bytes, and gave \(found > expected ? "at least " : "")\(found)"
        case .sourceFailed(let part, let reason): "the content of part \(part) failed: \(reason)"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
