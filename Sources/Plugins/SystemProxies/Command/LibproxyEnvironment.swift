/// The environment variables for libproxy's command.
enum LibproxyEnvironment {
    /// Variables for the desktop's settings, and the environment's proxies.
    static func forSettings(_ environment: [String: String]) -> [String: String] {
        var environment = environment
        // A web server passes a request's `Proxy` field to its programs as `HTTP_PROXY`. The request must not choose
        // the proxy.
        if environment["REQUEST_METHOD"] != nil { environment["HTTP_PROXY"] = nil }
        // libproxy then logs its steps on standard error.
        environment["_PX_DEBUG"] = "1"
        // Since libproxy 0.5, on standard output.
        environment["PX_DEBUG"] = "1"
        return environment
    }

    /// Variables for a script on standard input: without any of this process's variables that libproxy could interpret
    /// as settings.
    static func forScript(_ environment: [String: String]) -> [String: String] {
        var few = environment.filter { ["PATH", "LD_LIBRARY_PATH", "PX_MODULE_PATH", "TZ"].contains($0.key) }
        few["http_proxy"] = "pac+file:///dev/stdin"
        few["_PX_DEBUG"] = "1"
        // Since libproxy 0.5.
        few["PX_FORCE_CONFIG"] = "config-env"
        return few
    }
}
