import Dispatch
import Foundation
import LoadingKit
import LoadingKitLoopbackServer

/// One request, from its head to its response's last byte.
final class Exchange: @unchecked Sendable {  // its connection's thread uses the stream; `cancel()` comes after that
    private let output: OutputStream?
    private let load: Task<(URLSession.AsyncBytes, URLResponse), any Error>
    private let open: DispatchGroup

    init(_ request: URLRequest, hasBody: Bool, _ session: URLSession, _ open: DispatchGroup) {
        var request = request
        var (input, output): (InputStream?, OutputStream?)
        if hasBody { Stream.getBoundStreams(withBufferSize: 64 * 1024, inputStream: &input, outputStream: &output) }
        if let input { request.httpBodyStream = input }
        output?.open()
        self.output = output
        self.open = open
        load = Task { [request] in try await session.bytes(for: request) }
        open.enter()
    }

    deinit { open.leave() }

    /// Blocks while the upstream is behind, so that the client has to wait. Where the upstream takes no more, the bytes
    /// are dropped, and the load has failed.
    func send(_ piece: UnsafeRawBufferPointer) {
        var rest = piece.bindMemory(to: UInt8.self)
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = output?.write(base, maxLength: rest.count) ?? 0
            guard count > 0 else { return }
            rest = UnsafeBufferPointer(rebasing: rest.dropFirst(count))
        }
    }

    func cancel() {
        output?.close(throwing: CancellationError())
        load.cancel()
    }

    func response() throws -> ServerResponse {
        output?.close()
        let (bytes, head) = try blocking { [load] in try await load.value }
        let length = head.expectedContentLength
        var response = ServerResponse.stream(length < 0 ? .chunked : .length(UInt64(length))) { [self] body in
            // An error of the client's connection releases the bytes, which cancels the load.
            while let piece = try blocking({ try await bytes.chunks.first { _ in true } }) {
                try piece.withUnsafeBytes { try body.write($0) }
            }
            withExtendedLifetime(self) {}
        }
        guard let head = head as? HTTPURLResponse else { return response }
        response.status = head.statusCode
        response.fields = HTTPFields()
        for (name, value) in forwardable(head.headerFields, without: ["content-length"]) {
            response.fields.append(name: name, value: value)
        }
        return response
    }
}
