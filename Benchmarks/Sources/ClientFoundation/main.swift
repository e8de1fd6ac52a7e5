import ClientSupport

await LoadLoop(load: Loader().load).run()
