import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// The transfer codings of a response except `chunked`, which its connection decodes (RFC 9112 §6.1, §7).
enum TransferCodings {
    /// The codings in the order of their application. Empty for nearly every response.
    ///
    /// - Throws: `cannotDecodeRawData` for an unsupported coding, and for `chunked` before another coding: the received
    ///   bytes are not the content.
    static func read(_ fields: HTTPFields) throws(LoadFailure) -> [String] {
        guard fields.contains(.transferEncoding) else { return [] }
        let names = fields.values(of: .transferEncoding).flatMap { $0.lowercased().split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        var codings: [String] = []
        for (index, name) in names.enumerated() {
            switch name {
            case "gzip", "x-gzip", "deflate": codings.append(name)
            // `identity` is RFC 2616's name for no coding.
            case "identity": break
            case "chunked" where index == names.count - 1: break
            case "chunked":
                throw LoadFailure(
                    .cannotDecodeRawData, "the response has another transfer coding than chunked as its last one")
            case _: throw LoadFailure(.cannotDecodeRawData, "the response's transfer coding \(name) cannot be undone")
            }
        }
        return codings
    }
}
