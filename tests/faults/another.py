"""Runs kb as another user: copies the program and the cache to a folder that this user can reach.

The checkout and the home may be below folders that only their owner can enter (a container's `/root`).
"""

import os
import pathlib
import shutil
import stat

from world import World

# The folder of the default model in the hub's cache.
MODEL = "models--*--all-MiniLM-L6-v2"

def world_for(user, world):
    """Returns a world whose program, cache and home `user` can reach; `None` if there is no folder for it."""
    if not is_reachable(world.work.parent.parent):
        return None
    for place in (world.work.parent, world.work, world.home):
        place.chmod(0o755)
    program = world.work / "bin" / "kb"
    program.parent.mkdir()
    shutil.copyfile(world.kb, program)
    program.chmod(0o755)
    copy = World(program, world.work / "other")
    copy.work.chmod(0o755)
    copy.home.chmod(0o755)
    copy.env["KB_CACHE_DIR"] = str(copy_cache(world, user))
    copy.env["HF_HUB_CACHE"] = str(copy.work / "hub")
    for model in pathlib.Path(world.env["HF_HUB_CACHE"]).glob(MODEL):
        shutil.copytree(model, copy.work / "hub" / model.name, symlinks=True)
    if world.env.get("ORT_DYLIB_PATH"):
        library = copy.work / pathlib.Path(world.env["ORT_DYLIB_PATH"]).name
        shutil.copyfile(world.env["ORT_DYLIB_PATH"], library)
        library.chmod(0o644)
        copy.env["ORT_DYLIB_PATH"] = str(library)
    return copy


def is_reachable(folder):
    """Whether every user can enter a folder and all its parents."""
    folder = pathlib.Path(folder).resolve()
    return all(place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents))


def copy_cache(world, user):
    """Copies our cache for another user, who owns the copy."""
    copy = world.work / "another-cache"
    left_out = shutil.ignore_patterns("lock", "tmp")
    shutil.copytree(world.env["KB_CACHE_DIR"], copy, ignore=left_out)
    for folder, _, files in os.walk(copy):
        for name in [".", *files]:
            os.chown(os.path.join(folder, name), user, user)
    return copy
