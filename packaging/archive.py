"""Packs a folder so that the same files give the same bytes, whoever packs them, when and where."""

import gzip
import hashlib
import pathlib
import tarfile


def pack(folder, archive, seconds):
    """The folder as archive.tar.gz; every file gets the time `seconds`. A link or a device is refused."""
    folder, archive = pathlib.Path(folder), pathlib.Path(archive)

    def entry(path):
        info = tarfile.TarInfo(str(path.relative_to(folder.parent)))
        info.mtime = seconds
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise ValueError(f"{path}: a release has files and folders only")
        if path.is_dir():
            info.type, info.mode = tarfile.DIRTYPE, 0o755
        else:
            info.size = path.stat().st_size
            info.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
        return info

    with open(archive, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for path in [folder, *sorted(folder.rglob("*"))]:
                if path.is_file() and not path.is_symlink():
                    with open(path, "rb") as data:
                        tar.addfile(entry(path), data)
                else:
                    tar.addfile(entry(path))


def checksum(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def checksums(files):
    """As sha256sum --check reads them."""
    return "".join(f"{checksum(path)}  {pathlib.Path(path).name}\n" for path in sorted(files))
