import LoadingKitPersistence
import LoadingKitTransfers

/// The process that performs the transfers of background sessions, so that they go on when the program ends: the daemon
/// `loadkitd`, of which each user has one.
///
/// A background session starts it when there is none. It is looked for in this order:
///
/// 1. the program that the environment variable `LOADKITD` names;
/// 2. the program itself, where it has called ``runIfDaemon()``;
/// 3. `loadkitd` beside the program's executable;
/// 4. `loadkitd` in `PATH`.
///
/// Program and daemon meet in `$XDG_RUNTIME_DIR/loadkit`, which is open to the user alone. The daemon ends when nothing was to
/// do for a minute.
public enum LoadingKitBackground {
    /// Has the program carry the daemon inside, so that nothing else has to be installed with it. To be called as the first
    /// line of `main`, before the program starts threads or opens files.
    ///
    /// Where this process was started to be the daemon, the call does not return. Else it returns at once, and the program's
    /// background sessions start the program's own executable once more as the daemon when there is none.
    public static func runIfDaemon() { DaemonMain.runIfStarted(makePerformer) }

    /// Is the daemon until nothing was to do for a minute, or `SIGTERM` or `SIGINT` comes: what `loadkitd` does. What is not
    /// done by then goes on with the next daemon.
    public static func runDaemon() -> Never { DaemonMain.run(makePerformer) }

    private static let makePerformer: DaemonServer.MakePerformer = {
        // A daemon that was killed has its files for a moment longer than its socket.
        try BackgroundComposition.makeService(in: StoreLocation.stateFolder, patience: 5)
    }
}
