/// Why a body could not be decoded.
public struct ContentCodingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong.
    public enum Kind: Sendable, Equatable {
        /// The bytes are not of the coding that the response names.
        case corrupt(String)
        /// The body ended before its coding did.
        case truncated
        /// The body expands further than allowed.
        case expandsTooFar(ratio: Int)
        /// The system has no memory for the decoder.
        case outOfMemory
    }

    /// The coding that was being undone.
    public let coding: ContentCoding
    /// What is wrong.
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
