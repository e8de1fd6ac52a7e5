import Foundation
import LoadingKitCore
import LoadingKitHTTP
import LoadingKitTransport

/// Sends what is written to a file, as the data connection takes it and as its source gives it.
final class FTPBodySender {
    enum Progress {
        case done
        /// Until the socket has room.
        case blocked
        /// Until the body's source has given its next piece.
        case needsPiece(any BodySource)
        case failed(TransportError)
    }

    private var piece: Data
    private var sent = 0
    /// Nil at the body's end.
    private var source: (any BodySource)?
    private var isReading = false
    /// Bytes that were sent.
    private(set) var count: Int64 = 0

    init(_ body: RequestBody) { (piece, source) = (body.data ?? Data(), body.source) }

    func proceed(_ stream: ByteStream) -> Progress {
        while sent < piece.count {
            let result = piece.withUnsafeBytes { stream.write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
            switch result {
            case .bytes(let count):
                sent += count
                self.count += Int64(count)
            case .wouldBlock: return .blocked
            case .failed(let error): return .failed(error)
            }
        }
        guard let source else { return .done }
        if isReading { return .blocked }
        isReading = true
        return .needsPiece(source)
    }

    /// The next piece; nil at the body's end.
    func supply(_ data: Data?) {
        isReading = false
        (piece, sent) = (data ?? Data(), 0)
        if data == nil { source = nil }
    }
}
