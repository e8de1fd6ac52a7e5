print("loadkit")
