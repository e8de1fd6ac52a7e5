/// The environment of libproxy's command.
enum LibproxyEnvironment {
    /// For the desktop's settings, and the environment's proxies.
    static func forSettings(_ environment: [String: String]) -> [String: String] {
        var environment = environment
        // A web server passes a request's `Proxy` field to its programs as `HTTP_PROXY`: the request must not choose the proxy.
        if environment["REQUEST_METHOD"] != nil { environment["HTTP_PROXY"] = nil }
        // libproxy says then what it does, on the standard error output.
        environment["_PX_DEBUG"] = "1"
        // Since libproxy 0.5, on the standard output.
        environment["PX_DEBUG"] = "1"
        return environment
    }

    /// For a script that is the standard input: with nothing else of this process's that libproxy could take for settings.
    static func forScript(_ environment: [String: String]) -> [String: String] {
        var few = environment.filter { ["PATH", "LD_LIBRARY_PATH", "PX_MODULE_PATH", "TZ"].contains($0.key) }
        few["http_proxy"] = "pac+file:///dev/stdin"
        few["_PX_DEBUG"] = "1"
        // Since libproxy 0.5.
        few["PX_FORCE_CONFIG"] = "config-env"
        return few
    }
}
