import Foundation
import LoadingKitLoopbackServer

/// A real server of HTTP/2 over TLS that serves files, and sends back what is uploaded where it can. `hyper` opens
/// WebSockets, too, and sends back what comes. `apache` compresses files whose names begin with `coded`.
package final class HTTP2Server: Sendable {
    /// Which one.
    package enum Program: String, Sendable, CaseIterable {
        case nghttpd, apache, hyper

        /// Whether a POST to `/echo` is answered with its body.
        package var echoes: Bool { self != .apache }
    }

    private let process: ServerProcess

    package init(_ program: Program, files: [String: [UInt8]], identity: ServerIdentity) throws {
        if program == .hyper { _ = try ServerProcess.python(with: ["h2"], aptPackage: program.aptPackage) }
        process = try ServerProcess.start(program.executable, aptPackage: program.aptPackage, portCount: 1) { setup in
            for (name, bytes) in files { try setup.folder.write(bytes, to: "files/\(name)") }
            try setup.folder.write(identity.certificatePEM, to: "certificate.pem")
            try setup.folder.write(identity.privateKeyPEM, to: "key.pem")
            return try program.configure(setup.folder, setup.ports[0])
        }
    }

    deinit { stop() }

    package func stop() { process.stop() }

    package func url(_ path: String) -> String { "https://localhost:\(process.ports[0])\(path)" }
}

extension HTTP2Server.Program {
    fileprivate var executable: String {
        switch self {
        case .nghttpd: "nghttpd"
        case .apache: "apache2"
        // The distribution's own, which has its packages, whatever else the path has.
        case .hyper: "/usr/bin/python3"
        }
    }

    fileprivate var aptPackage: String {
        switch self {
        case .nghttpd: "nghttp2-server"
        case .apache: "apache2-bin"
        case .hyper: "python3-h2"
        }
    }

    /// Gives the arguments.
    fileprivate func configure(_ folder: TemporaryFolder, _ port: UInt16) throws -> [String] {
        switch self {
        case .nghttpd:
            try folder.write("", to: "files/echo")
            return [
                "-d", folder.file("files").path, "--echo-upload", "--trailer", "x-trailer: nghttpd", "-a", "127.0.0.1",
                "\(port)",
                folder.file("key.pem").path, folder.file("certificate.pem").path,
            ]
        case .apache:
            try folder.write(Self.apache(folder.path, port), to: "apache.conf")
            // Started by root it becomes another user, who has to see the files.
            for path in [folder.path, folder.file("files").path] { chmod(path, 0o755) }
            return ["-d", folder.path, "-f", "apache.conf", "-DFOREGROUND"]
        case .hyper:
            try folder.write(Self.hyperScript, to: "server.py")
            return [folder.file("server.py").path, folder.path, "\(port)"]
        }
    }

    private static func apache(_ folder: String, _ port: UInt16) -> String {
        let modules = ["mpm_event", "authz_core", "ssl", "http2", "filter", "deflate"]
            .map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n")
        return """
            \(modules)
            ServerName localhost
            Listen 127.0.0.1:\(port)
            PidFile apache.pid
            ErrorLog /dev/stderr
            User nobody
            Group nogroup
            DocumentRoot \(folder)/files
            Protocols h2 http/1.1
            SSLEngine on
            SSLSessionCache none
            SSLCertificateFile certificate.pem
            SSLCertificateKeyFile key.pem
            <Files "coded*">
            SetOutputFilter DEFLATE
            </Files>
            """
    }

    /// The hyper project's h2, with a thread for each connection.
    private static let hyperScript = #"""
        import os, socket, ssl, sys, threading
        import h2.config, h2.connection, h2.errors, h2.events, h2.exceptions, h2.settings

        folder, port = sys.argv[1], int(sys.argv[2])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder + "/certificate.pem", folder + "/key.pem")
        context.set_alpn_protocols(["h2"])

        def serve(client):
            client = context.wrap_socket(client, server_side=True)
            machine = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
            machine.local_settings = h2.settings.Settings(
                client=False, initial_values={h2.settings.SettingCodes.ENABLE_CONNECT_PROTOCOL: 1})
            machine.initiate_connection()
            heads, bodies, answers, sockets = {}, {}, {}, {}

            def echo(stream):
                # A WebSocket's frames of less than 65536 bytes, each sent back without its mask.
                data = sockets[stream]
                while len(data) >= 4:
                    size, start = data[1] & 127, 2
                    if size == 126:
                        size, start = int.from_bytes(data[2:4], "big"), 4
                    end = start + 4 + size
                    if len(data) < end:
                        break
                    payload = bytes(byte ^ data[start + i % 4] for i, byte in enumerate(data[start + 4:end]))
                    length = bytes([size]) if size < 126 else bytes([126]) + size.to_bytes(2, "big")
                    kind = data[0] & 15
                    first = bytes([data[0] + 1 if kind == 9 else data[0]])  # a ping's answer is a pong
                    answer = first + length + payload
                    while len(answer) > 16384:
                        machine.send_data(stream, answer[:16384])
                        answer = answer[16384:]
                    machine.send_data(stream, answer, end_stream=kind == 8)
                    data = data[end:]
                sockets[stream] = data

            def pump(stream):
                while stream in answers:
                    rest = answers[stream]
                    size = min(machine.local_flow_control_window(stream), machine.max_outbound_frame_size, len(rest))
                    if rest and size == 0:
                        return
                    machine.send_data(stream, rest[:size], end_stream=size == len(rest))
                    answers[stream] = rest[size:]
                    if size == len(rest):
                        del answers[stream]

            while True:
                client.sendall(machine.data_to_send())
                data = client.recv(65536)
                if not data:
                    return
                for event in machine.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        heads[event.stream_id] = dict(event.headers)
                        bodies[event.stream_id] = b""
                        if b":protocol" in heads[event.stream_id]:
                            sockets[event.stream_id] = b""
                            machine.send_headers(event.stream_id, [(":status", "200")])
                    elif isinstance(event, h2.events.DataReceived) and event.stream_id in sockets:
                        sockets[event.stream_id] += event.data
                        machine.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                        echo(event.stream_id)
                    elif isinstance(event, h2.events.DataReceived):
                        bodies[event.stream_id] += event.data
                        machine.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                    elif isinstance(event, h2.events.StreamEnded) and event.stream_id not in sockets:
                        path = heads.pop(event.stream_id)[b":path"].decode()
                        body = bodies.pop(event.stream_id)
                        name = folder + "/files" + path
                        found = path == "/echo" or os.path.isfile(name)
                        if path != "/echo" and found:
                            body = open(name, "rb").read()
                        answer = body if found else b"nothing"
                        status = "200" if found else "404"
                        machine.send_headers(
                            event.stream_id, [(":status", status), ("content-length", str(len(answer)))])
                        answers[event.stream_id] = answer
                        pump(event.stream_id)
                    elif isinstance(event, (h2.events.WindowUpdated, h2.events.RemoteSettingsChanged)):
                        for stream in list(answers):
                            pump(stream)
                    elif isinstance(event, h2.events.StreamReset):
                        answers.pop(event.stream_id, None)
                    elif isinstance(event, h2.events.ConnectionTerminated):
                        client.sendall(machine.data_to_send())
                        return

        def guarded(client):
            try:
                serve(client)
            except OSError:
                pass
            finally:
                client.close()

        listener = socket.create_server(("127.0.0.1", port), backlog=128)
        while True:
            client, _ = listener.accept()
            threading.Thread(target=guarded, args=(client,), daemon=True).start()
        """#
}
