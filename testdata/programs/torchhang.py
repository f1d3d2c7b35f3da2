"""torchhang.py - ranks of torch.distributed that wait for one another, over gloo.

python3 torchhang.py DIR CASE...

Each case is a job of four ranks. They are forked from one process, which has torch loaded once. When all have
begun, "CASE PID PID PID PID" is written, the process of rank 0 first. SIGUSR1 has a process write its stacks to
DIR/PID.
"""
import faulthandler, os, signal, sys, threading, time

import torch
import torch.distributed as dist

SIZE = 4


def asleep():
    time.sleep(10000)


def absent(rank):
    if rank == 2:
        asleep()
    dist.all_reduce(torch.ones(8), op=dist.ReduceOp.MAX)


def steps(rank):
    for i in range(4 if rank == 1 else 3):
        dist.all_reduce(torch.ones(8))
    dist.barrier()


def groups(rank):
    pair = dist.new_group([1, 3])
    if rank == 3:
        dist.broadcast(torch.ones(8), src=1, group=pair)
    dist.all_reduce(torch.ones(8))


def message(rank):
    if rank == 3:
        dist.recv(torch.ones(8), src=2, tag=7)
    dist.barrier()


def anyone(rank):
    if rank == 0:
        dist.recv(torch.ones(8))
    dist.barrier()


def objects(rank):
    if rank == 1:
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()
    dist.all_gather_object([None] * SIZE, {"rank": rank})


def thread(rank):
    if rank == 0:
        other = threading.Thread(target=asleep)
        other.start()
        other.join()
    dist.reduce(torch.ones(8), dst=0)
    dist.barrier()


def later(rank):
    """The others wait for the end of a call that they have begun before."""
    if rank == 3:
        asleep()
    dist.all_reduce(torch.ones(8), async_op=True).wait()


def goes_on(rank):
    while True:
        if rank == 2:
            time.sleep(0.02)
        dist.all_reduce(torch.ones(8))


def run(folder, case, rank):
    faulthandler.register(signal.SIGUSR1, open(os.path.join(folder, str(os.getpid())), "w"), all_threads=True)
    dist.init_process_group("gloo", init_method="file://" + os.path.join(folder, case), rank=rank, world_size=SIZE)
    dist.barrier()
    globals()[case](rank)


torch.set_num_threads(1)
for case in sys.argv[2:]:
    pids = []
    for rank in range(SIZE):
        pid = os.fork()
        if pid == 0:
            run(sys.argv[1], case, rank)
            os._exit(0)
        pids.append(pid)
    print(case, *pids, flush=True)
while True:
    os.wait()
