/// nginx's settings: one worker, files from memory, connections that stay open unless said otherwise.
struct NginxConfiguration {
    let ports: NginxPorts
    let folder: String

    var text: String {
        """
        worker_processes 1; daemon off; pid \(folder)/nginx.pid; error_log \(folder)/error.log crit;
        events { worker_connections 12000; }
        http {
            root \(folder)/www; access_log off; sendfile on; tcp_nodelay on;
            keepalive_requests 1000000000; keepalive_timeout 600s;
            client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy; fastcgi_temp_path \(folder)/fastcgi;
            uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
            ssl_certificate \(folder)/certificate.pem; ssl_certificate_key \(folder)/key.pem;
            ssl_protocols TLSv1.2 TLSv1.3;
            log_format handshake '$ssl_session_reused';
            server { listen 127.0.0.1:\(ports.http) backlog=16384; }
            server { listen 127.0.0.1:\(ports.https) ssl backlog=16384; }
            server { listen 127.0.0.1:\(ports.http2) ssl http2; }
            server {
                listen 127.0.0.1:\(ports.full) ssl; keepalive_timeout 0;
                ssl_session_tickets off; ssl_session_cache off; access_log \(folder)/handshakes.log handshake;
            }
            server {
                listen 127.0.0.1:\(ports.resumed) ssl; keepalive_timeout 0;
                ssl_session_tickets on; access_log \(folder)/handshakes.log handshake;
            }
        }
        """
    }
}
