import LoadingKitTransport

/// Runs a handshake with a proxy over a connection to it. Confined to the connection's loop.
final class TunnelDriver: ByteStreamHandler {
    private let stream: ByteStream
    private let proxy: Proxy
    private let destination: String
    private var handshake: any TunnelHandshake
    private var output: [UInt8] = []
    private var completion: ((Result<ByteStream, any Error>) -> Void)?

    /// - Parameter completion: called once, unless the driver is cancelled; with the stream when it leads to the server.
    init(
        _ stream: ByteStream, _ handshake: any TunnelHandshake, _ proxy: Proxy, destination: String,
        completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) {
        self.stream = stream
        self.handshake = handshake
        self.proxy = proxy
        self.destination = destination
        self.completion = completion
    }

    func start() {
        stream.handler = self
        do {
            output = try handshake.begin()
            write()
        } catch {
            fail(error)
        }
    }

    func cancel() {
        completion = nil
        stream.close()
    }

    func streamIsWritable(_ stream: ByteStream) { write() }

    func streamIsReadable(_ stream: ByteStream) {
        while completion != nil {
            switch stream.read(into: stream.loop.scratch) {
            case .bytes(let count): take(UnsafeRawBufferPointer(rebasing: stream.loop.scratch[..<count]))
            case .wouldBlock: return
            case .end: fail(.closed)
            case .failed(let error): end(.failure(error))
            }
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        do {
            switch try handshake.receive(bytes) {
            case .needsMore: break
            case .send(let bytes):
                output += bytes
                write()
            case .established:
                // Its next owner sets another.
                stream.handler = nil
                end(.success(stream))
            }
        } catch {
            fail(error)
        }
    }

    private func write() {
        while !output.isEmpty, completion != nil {
            switch output.withUnsafeBytes({ stream.write($0) }) {
            case .bytes(let count): output.removeFirst(count)
            case .wouldBlock: return
            case .failed(let error): end(.failure(error))
            }
        }
    }

    private func fail(_ cause: ProxyError.Cause) {
        end(.failure(ProxyError(proxy: proxy, destination: destination, cause: cause)))
    }

    private func end(_ result: Result<ByteStream, any Error>) {
        guard let completion else { return }
        self.completion = nil
        if case .failure = result { stream.close() }
        completion(result)
    }
}
