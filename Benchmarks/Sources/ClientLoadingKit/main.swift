import ClientSupport
import LoadingKit

await LoadLoop(lanes: Loader().lanes).run()
