import Foundation

/// An https server that accepts `Negotiate` and `NTLM` by the system's GSS-API, and wants tokens to be bound to the
/// certificate of its TLS connection (RFC 5929). It answers with the user, `bound` or `unbound`, and whose ticket it got to act
/// with.
package final class GSSAcceptorServer: Sendable {
    private let process: ServerProcess

    /// - Parameters:
    ///   - realm: nil for a server that knows no Kerberos.
    ///   - ntlmUsers: lines `DOMAIN:user:password`.
    ///   - bindsToAnotherCertificate: as if somebody between client and server had a certificate of his own.
    ///   - clock: how its clock is set, as `faketime` has it; nil for as it is.
    package init(
        _ realm: KerberosRealm?, tls identity: ServerIdentity, ntlmUsers: [String] = [],
        bindsToAnotherCertificate: Bool = false, clock: String? = nil
    ) throws {
        if clock != nil, ServerProcess.find("faketime") == nil {
            throw MissingProgram(program: "faketime", aptPackage: "faketime")
        }
        try Self.requireNTLM()
        let package = "python3-gssapi"
        let python = try ServerProcess.python(with: ["gssapi"], aptPackage: package)
        process = try ServerProcess.start(
            clock == nil ? python : "faketime", aptPackage: package, portCount: 1,
            environment: { setup in
                (realm?.serverEnvironment ?? [:]).merging(
                    ["NTLM_USER_FILE": setup.folder.file("ntlm.users").path, "LC_ALL": "C.UTF-8"]
                ) { $1 }
            }
        ) { setup in
            let folder = setup.folder
            try folder.write(identity.certificatePEM, to: "server.pem")
            try folder.write(identity.privateKeyPEM, to: "server.key")
            try folder.write(ntlmUsers.map { $0 + "\n" }.joined(), to: "ntlm.users")
            try folder.write(Self.program, to: "server.py")
            let binding = bindsToAnotherCertificate ? "other" : "own"
            let wrapper = clock.map { ["-f", $0, "/usr/bin/python3"] } ?? []
            return wrapper + [folder.file("server.py").path, "\(setup.ports[0])", folder.path, binding]
        }
    }

    deinit { stop() }

    /// - Throws: `MissingProgram` where the system's GSS-API has no NTLM.
    static func requireNTLM() throws {
        guard FileManager.default.fileExists(atPath: "/etc/gss/mech.d/mech.ntlmssp.conf") else {
            throw MissingProgram(program: "NTLM of the GSS-API", aptPackage: "gss-ntlmssp")
        }
    }

    package func stop() { process.stop() }

    /// The output up to now.
    package var output: String { process.output }

    package var url: String { "https://localhost:\(process.ports[0])/" }

    private static let program = #"""
        import base64, gssapi, hashlib, http.server, ssl, sys
        port, folder, binding = int(sys.argv[1]), sys.argv[2], sys.argv[3]
        pem = open(folder + "/server.pem").read()
        der = ssl.PEM_cert_to_DER_cert(pem[:pem.index("-----END") + len("-----END CERTIFICATE-----")])
        digest = hashlib.sha256(der if binding == "own" else b"other").digest()
        bindings = gssapi.raw.ChannelBindings(application_data=b"tls-server-end-point:" + digest)
        BOUND = 2048
        DELEGATED = 1
        # An error is raised when it happens, with the token that tells the client.
        gssapi.SecurityContext.__DEFER_STEP_ERRORS__ = False

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            context = None

            def answer(self, status, challenges, text):
                self.send_response(status)
                for challenge in challenges:
                    self.send_header("WWW-Authenticate", challenge)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def do_GET(self):
                scheme, _, token = self.headers.get("Authorization", "").partition(" ")
                if not token:
                    self.context = None
                    return self.answer(401, ["Negotiate", "NTLM"], "no")
                try:
                    if self.context is None:
                        self.context = gssapi.SecurityContext(usage="accept", channel_bindings=bindings)
                    output = self.context.step(base64.b64decode(token))
                except gssapi.exceptions.GSSError as error:
                    print(error, flush=True)
                    self.context = None
                    # What is wrong, in the mechanism's words.
                    reason = [scheme + " " + base64.b64encode(error.token).decode()] if error.token else []
                    return self.answer(401, reason or ["Negotiate", "NTLM"], "no")
                proof = [scheme + " " + base64.b64encode(output).decode()] if output else []
                if not self.context.complete:
                    return self.answer(401, proof, "more")
                bound = int(self.context.actual_flags) & BOUND
                text = str(self.context.initiator_name) + (" bound" if bound else " unbound")
                if int(self.context.actual_flags) & DELEGATED:
                    text += " delegated by " + str(self.context.delegated_creds.name)
                self.context = None
                self.answer(200, proof, text)

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(folder + "/server.pem", folder + "/server.key")
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        server.serve_forever()
        """#
}
