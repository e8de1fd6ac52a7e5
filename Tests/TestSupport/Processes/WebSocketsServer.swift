import Foundation

/// A real WebSocket server, `websockets` for Python, on a free loopback port. It sends every message back.
package final class WebSocketsServer: Sendable {
    private let process: ServerProcess

    /// - Parameter compresses: whether it agrees to permessage-deflate.
    package init(compresses: Bool) throws {
        let package = "python3-websockets"
        let python = try ServerProcess.python(with: ["websockets"], aptPackage: package)
        process = try ServerProcess.start(python, aptPackage: package, portCount: 1) { setup in
            try setup.folder.write(Self.script, to: "server.py")
            return [setup.folder.file("server.py").path, "\(setup.ports[0])", compresses ? "deflate" : "none"]
        }
    }

    deinit { stop() }

    package func stop() { process.stop() }

    package var url: String { "ws://127.0.0.1:\(process.ports[0])/" }

    private static let script = """
        import asyncio, sys, websockets

        async def echo(socket, path=None):
            async for message in socket:
                if message == "close":
                    await socket.close(4001, "as asked")
                else:
                    await socket.send(message)

        async def main():
            compression = None if sys.argv[2] == "none" else sys.argv[2]
            async with websockets.serve(
                echo, "127.0.0.1", int(sys.argv[1]), max_size=1 << 26, compression=compression,
                subprotocols=["echo"]):
                await asyncio.Future()

        asyncio.run(main())
        """
}
