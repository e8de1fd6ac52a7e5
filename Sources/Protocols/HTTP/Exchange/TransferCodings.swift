import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// The codings of a response's transfer but `chunked`, which its connection undoes (RFC 9112 §6.1, §7).
enum TransferCodings {
    /// In the order of their application. Empty for nearly every response.
    ///
    /// - Throws: `cannotDecodeRawData` for a coding that cannot be undone, and for `chunked` with another one behind it: what
    ///   comes is not the content.
    static func read(_ fields: HTTPFields) throws(LoadFailure) -> [String] {
        guard fields.contains(.transferEncoding) else { return [] }
        let names = fields.values(of: .transferEncoding).flatMap { $0.lowercased().split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        var codings: [String] = []
        for (index, name) in names.enumerated() {
            switch name {
            case "gzip", "x-gzip", "deflate": codings.append(name)
            // Of RFC 2616; it stands for none.
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
