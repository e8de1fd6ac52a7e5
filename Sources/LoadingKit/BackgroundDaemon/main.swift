import LoadingKit

LoadingKitBackground.runDaemon()
