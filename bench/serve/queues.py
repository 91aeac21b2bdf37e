"""queues.py [CORES] - what queueing alone makes of latency at half load, for the ways in which cores can be shared: median, p99, and one by the other.

Times are in runs of one request on one core. Nothing is measured: it is what docs/serving.md compares measurements with."""
import heapq, random, sys

cores, count = int(sys.argv[1]) if len(sys.argv) > 1 else 2, 400_000


def by_chance(rate):
    chance, at = random.Random(1), 0
    for _ in range(count):
        at += chance.expovariate(rate)
        yield at


def one_each(arrivals):
    free = [0.0] * cores
    for at in arrivals:
        end = max(at, heapq.heappop(free)) + 1
        heapq.heappush(free, end)
        yield end - at


def all_cores(arrivals, of_ideal):
    free = 0.0
    for at in arrivals:
        free = max(at, free) + 1 / (cores * of_ideal)
        yield free - at


def shared(arrivals, extra):
    """A core that gets free takes its part of those that wait; each more than the first costs `extra`."""
    arrivals, free, i = list(arrivals), [0.0] * cores, 0
    while i < len(arrivals):
        begin = max(arrivals[i], heapq.heappop(free))
        others, waiting = sum(f <= begin for f in free), i
        while waiting < len(arrivals) and arrivals[waiting] <= begin:
            waiting += 1
        part = -(-(waiting - i) // (1 + others))
        end = begin + 1 + (part - 1) * extra
        heapq.heappush(free, end)
        for at in arrivals[i:i + part]:
            yield end - at
        i += part


def show(what, times):
    times = sorted(times)
    median, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
    print(f"| {what} | {median:.2f} | {p99:.2f} | {p99 / median:.2f} |")


print("| policy | median | p99 | p99 of the median |\n|---|---:|---:|---:|")
show("a core for each request", one_each(by_chance(cores / 2)))
for ideal in (1, 0.85):
    show(f"all cores for one request, {ideal} as fast as they could be", all_cores(by_chance(cores / 2), ideal))
for extra in (1, 0.5, 0.1):
    show(f"those that wait share a run, one more costs {extra}", shared(by_chance(cores / 2), extra))
show("a core for each request, evenly", one_each(i * 2 / cores for i in range(count)))
