import LoadingKitCore

extension SessionSettings {
    /// Does what the program's environment asks of all sessions: `LOADKIT_HAR` and `LOADKIT_INSPECT`.
    mutating func followEnvironment() {
        recorders = EnvironmentRecording.recorders
        EnvironmentInspection.startIfNeeded()
    }
}
