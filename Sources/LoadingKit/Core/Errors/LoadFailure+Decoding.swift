import LoadingKitContentCoding

extension LoadFailure {
    /// Says in plain words why a body could not be decoded, and what to do.
    package static func decoding<Value>(_ body: () throws(ContentCodingError) -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            let text =
                switch error.kind {
                case .expandsTooFar:
                    "\(error), more than configuration.maximumDecompressionRatio allows: raise that where the server is trusted"
                case .corrupt, .truncated, .outOfMemory: error.description
                }
            throw LoadFailure(.cannotDecodeRawData, text)
        }
    }
}
