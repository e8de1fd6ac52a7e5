"""An FTP server, pyftpdlib, that lacks or breaks what its arguments say. Debian: python3-pyftpdlib, python3-openssl."""

import argparse
import json
import sys

try:
    from OpenSSL import SSL
    from pyftpdlib.authorizers import DummyAuthorizer
    from pyftpdlib.handlers import (
        DTPHandler, FTPHandler, ThrottledDTPHandler, TLS_DTPHandler, TLS_FTPHandler)
    from pyftpdlib.servers import FTPServer
except ImportError:
    sys.exit("sudo apt-get install -y python3-pyftpdlib python3-openssl")

parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("users", help='JSON: {"name": ["password", "folder"]}; anonymous without a password')
parser.add_argument("--locked", help="a folder whose files nobody may read")
parser.add_argument("--identity", help="a PEM file with certificate and key")
parser.add_argument("--data-identity", help="the same for data connections, in TLS sessions of their own")
parser.add_argument("--data-identity-from", type=int, default=1, help="the first data connection that has that")
parser.add_argument("--implicit", action="store_true", help="TLS from the beginning")
parser.add_argument("--require-tls", action="store_true", help="refuses what is not protected by TLS")
parser.add_argument("--require-reuse", action="store_true", help="refuses data connections with new TLS sessions")
parser.add_argument("--without", nargs="*", default=[], help="commands that it does not know")
parser.add_argument("--cut", type=int, help="ends a file's data connection after this number of bytes")
parser.add_argument("--cuts", type=int, default=1, help="how many times")
parser.add_argument("--slow", type=int, help="the number of bytes sent in a second")
arguments = parser.parse_args()

PERMISSIONS = "elradfmwMT"


def make_authorizer():
    authorizer = DummyAuthorizer()
    for name, (password, folder) in json.loads(arguments.users).items():
        if name == "anonymous":
            authorizer.add_anonymous(folder, perm="elr")
        else:
            authorizer.add_user(name, password, folder, perm=PERMISSIONS)
            if arguments.locked and arguments.locked.startswith(folder):
                authorizer.override_perm(name, arguments.locked, "el")
    return authorizer


class Cutting:
    """Ends data connections early, with the reply that a server gives when its disk fails."""

    def send(self, data):
        if arguments.cut is None or arguments.cuts == 0 or self.receive or self.file_obj is None:
            return super().send(data)
        room = arguments.cut - self.tot_bytes_sent
        if room <= 0:
            arguments.cuts -= 1
            self.discard_buffers()
            self._resp = ("426 The connection was cut.", self.log)
            self.close()
            return 0
        return super().send(data[:room])


class PlainData(Cutting, DTPHandler):
    pass


class SlowData(ThrottledDTPHandler):
    write_limit = arguments.slow or 0


class SecureData(Cutting, TLS_DTPHandler):
    made = 0

    def secure_connection(self, ssl_context):
        SecureData.made += 1
        if arguments.data_identity and SecureData.made >= arguments.data_identity_from:
            ssl_context = make_context(arguments.data_identity)
        super().secure_connection(ssl_context)

    def readable(self):
        # As it is, a client that begins the handshake before it sends its command is turned away.
        return self._ssl_accepting or super().readable()

    def handle_ssl_established(self):
        super().handle_ssl_established()
        reused = SSL._lib.SSL_session_reused(self.socket._ssl)
        print("data session", "resumed" if reused else "new", flush=True)
        if arguments.require_reuse and not reused:
            self._resp = ("425 The TLS session is not that of the control connection.", self.log)
            self.close()


class Commands:
    """Writes each command to the output, for tests to count."""

    authorizer = make_authorizer()
    auth_failed_timeout = 0
    use_sendfile = False
    max_login_attempts = 3
    banner = "ready"

    def on_connect(self):
        super().on_connect()
        print("connected", flush=True)

    def process_command(self, cmd, *args, **kwargs):
        print("command", cmd, flush=True)
        return super().process_command(cmd, *args, **kwargs)


class Plain(Commands, FTPHandler):
    proto_cmds = {name: value for name, value in FTPHandler.proto_cmds.items() if name not in arguments.without}
    dtp_handler = SlowData if arguments.slow else PlainData


class Secure(Commands, TLS_FTPHandler):
    proto_cmds = {name: value for name, value in TLS_FTPHandler.proto_cmds.items() if name not in arguments.without}
    dtp_handler = SecureData
    tls_control_required = arguments.require_tls
    tls_data_required = arguments.require_tls

    def handle(self):
        if not arguments.implicit:
            return super().handle()
        # The greeting goes through TLS.
        self.secure_connection(self.ssl_context)

    def handle_ssl_established(self):
        super().handle_ssl_established()
        if arguments.implicit:
            super().handle()


def make_context(identity):
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    context.use_certificate_chain_file(identity)
    context.use_privatekey_file(identity)
    # Sessions are resumed within one context identifier alone.
    context.set_session_id(b"ftp")
    return context


handler = Plain
if arguments.identity:
    handler = Secure
    Secure.ssl_context = make_context(arguments.identity)

FTPServer(("127.0.0.1", arguments.port), handler).serve_forever()
