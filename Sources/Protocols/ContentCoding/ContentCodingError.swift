/// The reason why a body could not be decoded.
public struct ContentCodingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Kind: Error, Equatable {
        /// The bytes are not valid in the coding that the response names.
        case corrupt(String)
        /// The body ended before its coding did.
        case truncated
        /// The body expands beyond the limit.
        case expandsTooFar(ratio: Int)
        /// The system has no memory for the decoder.
        case outOfMemory
    }

    /// The coding in which the error occurred.
    public let coding: ContentCoding
    /// The kind of the error.
    public let kind: Kind

    /// The error in plain words.
    public var description: String {
        switch kind {
        case .corrupt(let reason): "the body is not valid \(coding.rawValue): \(reason)"
        case .truncated: "the body ended in the middle of its \(coding.rawValue) coding"
        case .expandsTooFar(let ratio): "the \(coding.rawValue) body expands to more than \(ratio) times its size"
        case .outOfMemory: "there is no memory to decode the \(coding.rawValue) body"
        }
    }
}
