import LoadingKitContentCoding

extension LoadFailure {
    /// Converts a decoding error into a failure that states the reason and the remedy in plain words.
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
