"""Runs the parts of a class in parallel, each in a separate folder."""

import queue
import threading
import traceback


def in_parallel(work, workers, parts, run, result):
    """Calls `run(part, folder)` for each part; an error of the harness itself is a failure of the class."""
    jobs = queue.Queue()
    for number, part in enumerate(parts):
        jobs.put((number, part))

    def take():
        while True:
            try:
                number, part = jobs.get_nowait()
            except queue.Empty:
                return
            folder = work / f"part-{number}"
            folder.mkdir(parents=True)
            try:
                run(part, folder)
            except Exception:
                result.fail(f"part {number}", "broken", f"the harness itself: {traceback.format_exc()}")

    threads = [threading.Thread(target=take) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
