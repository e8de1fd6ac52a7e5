import ClientSupport
import LoadingKit

let loader = Loader()
await LoadLoop(on: loader.executor, load: loader.load).run()
