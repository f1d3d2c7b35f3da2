#!/usr/bin/env python3
# Stands in for a training job with NCCL: no GPU, no NCCL. Each rank begins "collectives" by counting them in shared
# memory and waits until all have; rank --behind reads a file that never comes (a FIFO). Each rank listens for NCCL's
# RAS with SO_REUSEPORT, as NCCL 2.29 does, and answers for the whole job (docs/userguide, Troubleshooting, RAS).
#
#   job.py --np 4 --port 28028 --behind 2 --at 5 --fifo PATH [--host ADDRESS] [--old]
import argparse, json, mmap, os, signal, socket, struct, sys, threading, time

p = argparse.ArgumentParser()
p.add_argument("--np", type=int, default=4)
p.add_argument("--port", type=int, required=True)
p.add_argument("--host", default="127.0.0.1", help="address of the ranks in answers")
p.add_argument("--behind", type=int, default=-1, help="the rank that reads the FIFO")
p.add_argument("--at", type=int, default=5, help="after so many collectives")
p.add_argument("--fifo", default="")
p.add_argument("--hash", default="0xae94423cfbb2ef4a")
p.add_argument("--old", action="store_true", help="a release before 2.28.7")
p.add_argument("--step", type=float, default=0.02, help="time between collectives")
a = p.parse_args()
shared = mmap.mmap(-1, 16 * a.np)


def put(at, value):
    struct.pack_into("q", shared, 8 * at, value)


def get(at):
    return struct.unpack_from("q", shared, 8 * at)[0]


def report():
    ranks = [{"rank": r, "host": a.host, "pid": get(2 * r), "cuda_dev": r, "nvml_dev": r,
              "status": {"init_state": 0, "async_error": 0, "finalize_called": False, "destroy_flag": False,
                         "abort_flag": False},
              "collective_counts": {"Broadcast": 1, "Reduce": 0, "AllGather": 0, "ReduceScatter": 0,
                                    "AllReduce": get(2 * r + 1)}} for r in range(a.np)]
    comm = {"hash": a.hash, "secondary_hash": "0x1:0x2", "size": a.np, "ranks_count": a.np,
            "missing_ranks_count": 0, "ranks": ranks, "missing_ranks": []}
    return json.dumps({"nccl_version": "2.29.1", "cuda_runtime_version": 13000, "cuda_driver_version": 13000,
                       "timestamp": time.strftime("%Y-%m-%d %H:%M:%S"), "communicators_count": 1,
                       "communicators": [comm], "ras": {"collection_time_sec": 0.0, "timeouts_count": 0}}) + "\n"


def client(c):
    form = "text"
    with c, c.makefile("rw", newline="\n") as f:
        for line in f:
            line = line.strip().lower()
            answer = "OK\n"
            if line.startswith("client protocol "):
                answer = "SERVER PROTOCOL 2\n"
            elif line == "set format json" and not a.old:
                form = "json"
            elif line in ("status", "verbose status"):
                f.write(report() if form == "json" else "Job summary\n===========\n")
                return
            elif not line.startswith("timeout "):
                answer = "ERROR: Unknown command %s\n" % line
            f.write(answer)
            f.flush()


def ras(listener):
    while True:
        client(listener.accept()[0])


def load(step):
    with open(a.fifo) as f:
        return f.read()


def all_reduce(rank, n):
    put(2 * rank + 1, n)
    while any(get(2 * r + 1) < n for r in range(a.np)):
        time.sleep(0.05)


def train(rank):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", a.port))
    listener.listen(64)
    threading.Thread(target=ras, args=(listener,), daemon=True).start()
    put(2 * rank, os.getpid())
    while not all(get(2 * r) for r in range(a.np)):
        time.sleep(0.01)
    for step in range(1, 1 << 30):
        if rank == a.behind and step > a.at:
            load(step)
        all_reduce(rank, step)
        time.sleep(a.step)


children = []
for rank in range(a.np):
    pid = os.fork()
    if pid == 0:
        os.environ["RANK"] = str(rank)
        train(rank)
    children.append(pid)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
try:
    waits = a.at + 1 if a.behind >= 0 else 0
    while not all(get(2 * r) and (r == a.behind or get(2 * r + 1) >= waits) for r in range(a.np)):
        time.sleep(0.01)
    print("ready", *children, flush=True)
    os.wait()
finally:
    for pid in children:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it was killed before
