"""The same work on many jobs, on all cores; results come in the order of the jobs."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import TypeVar

from cellwright.core.results import MeasurementFailed

__all__ = ["each_result", "run_jobs"]

Job = TypeVar("Job")
Result = TypeVar("Result")


def run_jobs(
    what: str,
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    prepare: Callable[[], object] = bool,
) -> list[Result]:
    """Works on every job, by default in as many processes as there are cores.

    Args:
        what: Is measured, for the message when it cannot be.
        work: A function of a module, so that another process finds it.
        jobs: The arguments of `work`; they and its results must be picklable.
        workers: Number of processes; 1 works here.
        progress: Called with how many are done, and of how many; first with none.
        prepare: Called once in every process, before its first job.

    Raises:
        MeasurementFailed: when a process was killed.
    """
    results: list[Result] = []
    progress(0, len(jobs))
    count = min(workers or os.cpu_count() or 1, len(jobs))
    if count <= 1:
        prepare()
        for job in jobs:
            results.append(work(job))
            progress(len(results), len(jobs))
        return results
    others = set(active_children())
    with ProcessPoolExecutor(count, get_context("spawn"), _start, (prepare,)) as pool:
        running = [pool.submit(work, job) for job in jobs]
        try:
            for future in running:
                results.append(future.result())
                progress(len(results), len(jobs))
        except BrokenProcessPool:
            raise MeasurementFailed(what, "a process that worked on it was killed; is memory short?") from None
        except BaseException:
            for worker in set(active_children()) - others:
                worker.terminate()  # else they would finish what they have in hand
            raise
    return results


def each_result(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int | None = None
) -> Generator[tuple[int, Result | None], None, None]:
    """Works on every job in other processes, and yields its number and its result as soon as it is done.

    A process that dies takes its one job along, whose result is None, and another takes its place. When the caller
    stops asking, or is interrupted, all are told to end, and waited for.

    Args:
        work: A function of a module, so that another process finds it.
        jobs: The arguments of `work`; they and its results must be picklable.
        workers: Number of processes; as many as there are cores when None.
    """
    others, left = set(active_children()), iter(enumerate(jobs))
    idle = [_one() for _ in range(min(workers or os.cpu_count() or 1, len(jobs)))]
    running: dict[Future[Result], tuple[int, ProcessPoolExecutor]] = {}
    over = False
    try:
        while True:
            while idle and (job := next(left, None)) is not None:
                pool = idle.pop()
                running[pool.submit(work, job[1])] = job[0], pool
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                number, pool = running.pop(future)
                try:
                    result = future.result()
                except BrokenProcessPool:
                    pool.shutdown()
                    idle.append(_one())
                    yield number, None
                else:
                    idle.append(pool)
                    yield number, result
        over = True
    finally:
        for worker in () if over else set(active_children()) - others:
            worker.terminate()
        for pool in (*idle, *(pool for _, pool in running.values())):
            pool.shutdown(cancel_futures=True)


def _one() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"), _start, (bool,))


def _start(prepare: Callable[[], object]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process ends the work; a worker has nothing to add
    prepare()
