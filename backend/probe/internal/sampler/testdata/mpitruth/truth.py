# The same as main.c, with calls from Python (mpi4py).
import array
import os
import signal
import sys

signal.alarm(180)  # whatever becomes of the test
directory = sys.argv[1]
said = os.open(directory + "/said", os.O_WRONLY)
go = os.open(directory + "/go", os.O_RDONLY)
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
number = 0
PARTNER = 3


def say(text):
    os.write(said, ("%d %d %s\n" % (rank, number, text)).encode())


say("pid %d" % os.getpid())
from mpi4py import MPI  # it calls MPI_Init

world = MPI.COMM_WORLD
control = world.Dup()
reversed_ = world.Split(0, -rank)
reversed_.Set_name("reversed")
copy = world.Dup()
copy.Set_name("copy")
number = 1


def case(text, theirs, call):
    global number
    if rank == PARTNER:
        os.read(go, 1)
        theirs()
    else:
        say(text)
        call()
    say("left")
    control.Barrier()
    number += 1


def to_all(comm, tag, what):
    for i in range(4):
        if i != comm.Get_rank():
            comm.send(what, dest=i, tag=tag)


def buffers_to_all(comm, tag):
    for i in range(4):
        if i != comm.Get_rank():
            comm.Send([buffer, 2, MPI.INT], dest=i, tag=tag)


buffer = array.array("i", [0] * 64)
other = array.array("i", [0] * 64)
other_two = [other, 2, MPI.INT]
requests = []
case("Recv count=3 type=MPI_INT source=3 tag=11 comm=copy", lambda: buffers_to_all(copy, 11),
     lambda: copy.Recv([buffer, 3, MPI.INT], source=3, tag=11))
case("Mprobe source=3 tag=12 comm=copy", lambda: to_all(copy, 12, {"a": 1}), lambda: copy.recv(source=3, tag=12))
case("Mprobe source=any tag=any comm=reversed", lambda: to_all(reversed_, 13, "x"), lambda: reversed_.recv())
if rank != PARTNER:
    requests = [copy.Irecv([buffer, 2, MPI.INT], source=3, tag=14), copy.Irecv([other, 2, MPI.INT], source=3, tag=15)]
case("Waitall count=2 requests=receive:3:14:copy,receive:3:15:copy", lambda: (buffers_to_all(copy, 14), buffers_to_all(copy, 15)),
     lambda: MPI.Request.Waitall(requests))
if rank != PARTNER:
    requests = [reversed_.Irecv([buffer, 2, MPI.INT], source=0, tag=16)]
case("Wait requests=receive:0:16:reversed", lambda: buffers_to_all(reversed_, 16), lambda: requests[0].Wait())
case("Barrier comm=reversed", reversed_.Barrier, reversed_.Barrier)
case("Bcast count=4 type=MPI_INT root=3 comm=copy", lambda: copy.Bcast([buffer, 4, MPI.INT], root=3), lambda: copy.Bcast([buffer, 4, MPI.INT], root=3))
case("Allreduce count=2 type=MPI_INT op=MPI_SUM comm=reversed", lambda: reversed_.Allreduce([buffer, 2, MPI.INT], other_two, op=MPI.SUM),
     lambda: reversed_.Allreduce([buffer, 2, MPI.INT], other_two, op=MPI.SUM))
case("Comm_split color=2 key=%d comm=copy" % rank, lambda: copy.Split(2, rank), lambda: copy.Split(2, rank))
say("end")
