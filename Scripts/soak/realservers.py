"""The servers of others: nginx, Apache, squid and vsftpd."""

import hashlib
import shutil
import signal

from servers import APACHE_MODULES, Server

from . import content

USER, PASSWORD = "soak", "secret"


class SoakServer(Server):
    def write_files(self):
        content.write_files(self.folder / "files")


class Nginx(SoakServer):
    """nginx: http, https with HTTP/2, and https without."""

    name = "nginx"
    port_count = 3

    def __init__(self, folder, certificate, backend):
        self.backend = backend
        super().__init__(folder, certificate)

    def command(self):
        folder = str(self.folder)
        return ["nginx", "-e", f"{folder}/error.log", "-p", folder, "-c", f"{folder}/configuration"]

    def configuration(self):
        folder = self.folder
        (folder / "users").write_text(f"{USER}:{{PLAIN}}{PASSWORD}\n")
        (folder / "users").chmod(0o644)
        temporary = " ".join(
            f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        listens = (f"{self.ports[0]}", f"{self.ports[1]} ssl http2", f"{self.ports[2]} ssl")
        backend = f"proxy_pass http://127.0.0.1:{self.backend}; proxy_http_version 1.1; client_max_body_size 8m;"
        servers = "\n".join(f"""
                server {{
                    listen 127.0.0.1:{listen};
                    location /files/ {{ alias {folder}/files/; }}
                    location /cached/ {{ alias {folder}/files/; expires 1h; }}
                    location /slow/ {{ alias {folder}/files/; limit_rate 4m; }}
                    location /gzip/ {{ alias {folder}/files/; gzip on; gzip_types *; gzip_proxied any; }}
                    location /basic/ {{
                        alias {folder}/files/; auth_basic soak; auth_basic_user_file {folder}/users;
                    }}
                    location ~ ^/redirect/([0-9]+)$ {{ return 302 /files/$1; }}
                    location /cookie/set/ {{ add_header Set-Cookie "soak=$arg_value; Path=/cookie/"; return 200 set; }}
                    location /cookie/get/ {{ return 200 "$cookie_soak"; }}
                    location /upload {{ {backend} }}
                    location /socket {{
                        {backend} proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;
                    }}
                }}""" for listen in listens)
        return f"""
            worker_processes 2; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
            events {{ worker_connections 4096; }}
            http {{
                access_log off; {temporary}
                ssl_certificate {self.certificate}/certificate.pem; ssl_certificate_key {self.certificate}/key.pem;
                {servers}
            }}
            """


class Apache(SoakServer):
    """Apache: http, and https with HTTP/2; a part of its files wants a Digest login."""

    name = "Apache"
    reload_signal = signal.SIGUSR1

    def command(self):
        return ["apache2", "-DFOREGROUND", "-d", str(self.folder), "-f", "configuration"]

    def configuration(self):
        folder = self.folder
        digest = hashlib.md5(f"{USER}:soak:{PASSWORD}".encode()).hexdigest()
        (folder / "users").write_text(f"{USER}:soak:{digest}\n")
        (folder / "users").chmod(0o644)
        modules = "\n".join(
            f"LoadModule {name}_module {APACHE_MODULES}/mod_{name}.so"
            for name in ("mpm_event", "authz_core", "authz_user", "authn_core", "authn_file", "auth_digest", "alias",
                         "ssl", "http2"))
        return f"""
            {modules}
            ServerName localhost
            Listen 127.0.0.1:{self.port}
            Listen 127.0.0.1:{self.tls_port}
            DefaultRuntimeDir {folder}
            PidFile apache.pid
            ErrorLog {folder}/error.log
            User nobody
            Group nogroup
            DocumentRoot {folder}
            Alias /digest/ {folder}/files/
            SSLSessionCache none
            <Location /digest/>
            AuthType Digest
            AuthName soak
            AuthUserFile {folder}/users
            Require valid-user
            </Location>
            <VirtualHost 127.0.0.1:{self.tls_port}>
            Protocols h2 http/1.1
            SSLEngine on
            SSLCertificateFile {self.certificate}/certificate.pem
            SSLCertificateKeyFile {self.certificate}/key.pem
            </VirtualHost>
            """


class Squid(SoakServer):
    """squid, which caches nothing."""

    name = "squid"
    port_count = 1

    def command(self):
        return ["squid", "-N", "-f", str(self.folder / "configuration")]

    def configuration(self):
        return f"""
http_port 127.0.0.1:{self.port}
http_access allow all
cache deny all
pid_filename none
access_log none
cache_log stdio:/dev/stderr
cache_store_log none
coredump_dir {self.folder}
shutdown_lifetime 0 seconds
hosts_file /etc/hosts
max_filedescriptors 8192
"""


class VSFTPD(SoakServer):
    """vsftpd, for anonymous users."""

    name = "vsftpd"
    port_count = 1

    def command(self):
        return [shutil.which("vsftpd", path="/usr/local/sbin:/usr/sbin"), str(self.folder / "configuration")]

    def configuration(self):
        # Anonymous users see a folder of their own, which they may not write to.
        root = self.folder / "root"
        root.mkdir()
        (self.folder / "files").rename(root / "files")
        root.chmod(0o555)
        (self.folder / "empty").mkdir(mode=0o555)
        return f"""listen=YES
listen_port={self.port}
listen_address=127.0.0.1
background=NO
run_as_launching_user=YES
ftp_username=nobody
nopriv_user=nobody
one_process_model=YES
secure_chroot_dir={self.folder}/empty
seccomp_sandbox=NO
anonymous_enable=YES
anon_root={root}
xferlog_enable=NO
connect_from_port_20=NO
max_clients=0
max_per_ip=0
"""


def missing():
    """The programs that are not there, with what installs each."""
    programs = {"nginx": "nginx-light", "apache2": "apache2-bin", "squid": "squid",
                "vsftpd": "Scripts/install-ftp-servers.sh"}
    path = "/usr/local/sbin:/usr/sbin:/usr/bin"
    return [f"{name} ({source})" for name, source in programs.items() if not shutil.which(name, path=path)]
