/// Why a body could not be decoded.
package struct ContentCodingError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        /// The bytes are not of the coding that the response names.
        case corrupt(String)
        /// The body ended before its coding did.
        case truncated
        /// The body expands further than allowed.
        case expandsTooFar(ratio: Int)
        case outOfMemory
    }

    package let coding: ContentCoding
    package let kind: Kind

    package var description: String {
        switch kind {
        case .corrupt(let reason): "the body is not valid \(coding.rawValue): \(reason)"
        case .truncated: "the body ended in the middle of its \(coding.rawValue) coding"
        case .expandsTooFar(let ratio): "the \(coding.rawValue) body expands to more than \(ratio) times its size"
        case .outOfMemory: "there is no memory to decode the \(coding.rawValue) body"
        }
    }
}
