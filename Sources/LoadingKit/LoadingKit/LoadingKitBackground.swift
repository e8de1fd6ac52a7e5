import Foundation
import Glibc
import LoadingKitPersistence

#if Background
    import LoadingKitTransfers
#endif

/// The process that performs the transfers of background sessions, so that they continue when the program ends: the
/// daemon `loadkitd`. Each user has one.
///
/// A background session starts the daemon when it is not running. Its executable is searched in this order:
///
/// 1. the program that the environment variable `LOADKITD` names;
/// 2. the program itself, where it has called ``runIfDaemon()``;
/// 3. `loadkitd` beside the program's executable;
/// 4. `loadkitd` in `PATH`.
///
/// Program and daemon communicate in `$XDG_RUNTIME_DIR/loadkit`, which only the user can access. The daemon ends after
/// a minute without work.
public enum LoadingKitBackground {
    /// Includes the daemon in the program, so that nothing else has to be installed. Call this method in the first line
    /// of `main`, before the program starts threads or opens files.
    ///
    /// In a process that was started as the daemon, the call does not return. Otherwise it returns at once, and the
    /// program's background sessions start the program's own executable as the daemon when no daemon is running.
    public static func runIfDaemon() {
        #if Background
            DaemonMain.runIfStarted(makePerformer)
        #else
            if ProcessInfo.processInfo.environment["LOADKIT_DAEMON_STAGE"] != nil { runDaemon() }
        #endif
    }

    /// Runs the daemon, as `loadkitd` does, until a minute has passed without work, or `SIGTERM` or `SIGINT` arrives.
    /// The next daemon continues unfinished transfers.
    ///
    /// Without LoadingKit's package trait Background there is no daemon: the program ends with status 1.
    public static func runDaemon() -> Never {
        #if Background
            DaemonMain.run(makePerformer)
        #else
            let text = "The daemon needs LoadingKit's package trait Background.\n"
            try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
            exit(EXIT_FAILURE)
        #endif
    }

    #if Background
        private static let makePerformer: DaemonServer.MakePerformer = {
            // The system releases the files of a killed daemon a moment later than its socket.
            try BackgroundComposition.makeService(in: StoreLocation.stateFolder(), patience: 5)
        }
    #endif
}
