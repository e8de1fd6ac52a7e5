"""The content of all files and bodies: the first bytes of one sequence, as in SoakPlan.swift."""

SIZES = (100, 1024, 20_000, 65_536, 300_000, 1 << 20)
BYTES = bytes((index * 167 + (index >> 8) * 13) & 255 for index in range(1 << 20))


def write_files(folder):
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    for size in SIZES:
        file = folder / str(size)
        file.write_bytes(BYTES[:size])
        file.chmod(0o644)
