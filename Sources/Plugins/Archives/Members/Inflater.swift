import CLoadingKitZlib
import Foundation

/// Decodes one raw deflate stream (RFC 1951). Used by one task at a time.
final class Inflater: @unchecked Sendable {  // belongs to one decoder, which is a value of one task
    private static let lackOfMemory = "there is not enough memory to decode it"

    private let member: String
    private let stream: UnsafeMutablePointer<z_stream>
    private(set) var isComplete = false

    /// - Parameter member: The member's name, for errors.
    init(member: String) throws(ArchiveError) {
        self.member = member
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // Negative: without zlib's header and checksum.
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, -15, ZLIB_VERSION, size) == Z_OK else {
            throw .corruptMember(member, reason: Self.lackOfMemory)
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Decodes at most `count` bytes from the input, and removes the used bytes from it. Empty: it needs more input, or
    /// is complete. Bytes before an error come first.
    func inflate(_ input: inout Data, atMost count: Int) throws(ArchiveError) -> Data {
        guard !isComplete, count > 0 else { return Data() }
        let given = min(input.count, 1 << 30)
        var output = Data(count: min(count, 1 << 30))
        let code = input.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { output in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
                stream.pointee.avail_in = uInt(given)
                stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
                stream.pointee.avail_out = uInt(output.count)
                return CLoadingKitZlib.inflate(stream, Z_NO_FLUSH)
            }
        }
        let used = given - Int(stream.pointee.avail_in)
        let produced = output.count - Int(stream.pointee.avail_out)
        input = used < input.count ? input.dropFirst(used) : Data()
        switch code {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: isComplete = true
        case _ where produced > 0: break  // the next call gives the error again
        case Z_MEM_ERROR: throw .corruptMember(member, reason: Self.lackOfMemory)
        default:
            let flaw = stream.pointee.msg.map { String(cString: $0) } ?? "it needs a dictionary"
            throw .corruptMember(member, reason: "it cannot be decoded: \(flaw)")
        }
        return produced < output.count ? output.prefix(produced) : output
    }
}
