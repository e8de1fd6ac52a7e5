import Foundation
import LoadingKitCore
import LoadingKitTransport
import Logging

/// The main function of the daemon.
package enum DaemonMain {
    package static var isStarted: Bool { DaemonStage.current(ProcessInfo.processInfo.environment) != nil }

    /// Runs the daemon where this process was started as the daemon of a program that includes it; otherwise records
    /// that the program includes the daemon.
    package static func runIfStarted(_ makePerformer: @escaping DaemonServer.MakePerformer) {
        guard !isStarted else { run(makePerformer) }
        DaemonProgram.carriesDaemon()
    }

    /// Serves until the daemon is idle for long enough, or a signal arrives (`SIGTERM`, `SIGINT`).
    package static func run(
        limits: DaemonServer.Limits = DaemonServer.Limits(), _ makePerformer: @escaping DaemonServer.MakePerformer
    ) -> Never {
        let environment = ProcessInfo.processInfo.environment
        let stage = DaemonStage.current(environment)
        if stage == .start { startDetached(environment) }
        let isDetached = stage == .serve
        // The programs that the daemon starts must not inherit these variables.
        for name in [DaemonStage.variable, "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
        // A write fails instead. The limit of file sizes is that of the program that has started the daemon.
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
        // The working directory of the programs that the daemon starts.
        if chdir(HomeFolder.path(environment)) != 0 { _ = chdir("/") }

        let log = DaemonLog(environment)
        StoreLog.use(
            Logger(label: "loadkitd") { _ in MessageLog(.warning) { log.write("\($0.level): \($0.message)") } })
        let readiness = isDetached ? DaemonStage.readiness : nil
        if let readiness { _ = fcntl(readiness, F_SETFD, FD_CLOEXEC) }
        do {
            let activated = isDetached ? nil : DaemonListener.activatedSocket(environment)
            let place = try DaemonPlace.find(environment)
            guard let listener = try DaemonListener(place, activated: activated, readiness: readiness) else {
                if !isDetached { log.write("another daemon serves \(place.socket)") }
                exit(0)
            }
            // Blocks the signals before there are other threads, so that none of these receives a signal.
            var signals = sigset_t()
            sigemptyset(&signals)
            for number in [SIGTERM, SIGINT] { sigaddset(&signals, number) }
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            let loop = EventLoop(name: "loadkitd")
            let server = DaemonServer(on: loop, limits: limits, log: log, makePerformer: makePerformer) { _exit(0) }
            server.start(listener)
            var number: Int32 = 0
            while sigwait(&signals, &number) != 0 {}
            server.stop("signal \(number)")
            while true { pause() }
        } catch {
            log.write("\(error)")
            exit(1)
        }
    }

    /// Starts this program once more, as a process that has no parent when this one has ended.
    private static func startDetached(_ environment: [String: String]) -> Never {
        do {
            let variables = DaemonStage.serve.environment(environment)
            _ = try DetachedProcess.start("/proc/self/exe", ["loadkitd"], variables, kept: DaemonStage.readiness)
            exit(0)
        } catch {
            DaemonLog(environment).write("\(error)")
            exit(1)
        }
    }
}
