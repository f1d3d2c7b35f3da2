// Texts of help: what each subcommand is for. Its flags are described by themselves.

package main

const usage = `sdm debugs a parallel program: one command goes to a set of its ranks, and ranks that
answer the same are one line.

My job hangs (PID is the process of its mpirun; nothing need be prepared):
  sdm why    [flags] PID|FILE|ID             one page: the verdict, the odd ranks, and what to try next
  sdm waits  [flags] PID                     who waits for whom in MPI
  sdm stacks [flags] PID                     one tree of all stacks; the job runs on
  sdm watch  [flags] -- mpirun -n 4 PROGRAM  in a batch script: a stall or a crash leaves a file that tells why
  sdm watch  [flags] PID                     the same for a running job
  sdm open   [flags] FILE                    a hang file: stacks, waits and more of a job that is gone
  sdm diff-files [flags] FILE FILE           what has changed between two hang files

My job crashes or computes nonsense:
  sdm run    [flags] -- mpirun -n 4 PROGRAM  start a starter (mpirun, mpiexec, srun, flux run) and take control of its job
  sdm run    [flags] [--] PROGRAM [ARG...]   start PROGRAM on -n ranks under control
  sdm attach [flags] PID                     take control of a running job
  sdm core   [flags] PROGRAM CORE...         many core files, one rank each
  sdm join   [flags] [ID]                    come back to a session that was left, or join another's console of yours

More:
  sdm sessions [flags]                       your live sessions, on this host and others
  sdm dap    [flags]                         for editors: the Debug Adapter Protocol (docs/editors.md)
  sdm mcp    [flags]                         for agents: the Model Context Protocol (docs/agents.md)
  sdm web    [flags] [ID | FILE]             a session or hang file as a page for your browser (docs/web.md)
  sdm listen [flags] [HOST:]PORT             wait for a master to dial in and drive it
  sdm sim    [flags] -n N                    simulated ranks, up to millions: try all this on a laptop
  sdm doctor [HOST...]                       what works on this machine, what does not, what to do
  sdm version [--all]                        for bug reports; with --all also of gdb and launchers
  sdm completion bash | zsh | fish           a script by which your shell completes command lines of sdm
  sdm help   [run | attach | why | stacks | waits | watch | open | diff-files | core | listen | doctor | sim | commands | sets |
              join | sessions | dap | mcp | web | ways | COMMAND]

sdm help run tells the flags, sdm help ways which of them have no place with which starter, and
sdm help commands what can be typed at the prompt.
`

const usageRun = `sdm run [flags] [--] PROGRAM [ARG...]
sdm run [flags] -n 2 [flags] PROGRAM [ARG...] : -n 3 [flags] PROGRAM [ARG...]
sdm run [flags] [--] mpirun|mpiexec|srun [its flags] PROGRAM [ARG...]
sdm run [flags] [--] torchrun [its flags] SCRIPT [ARG...]

Starts PROGRAM on -n ranks on this machine, stops each of them at main, executes the
commands of -x and -e, then asks for more at a prompt (unless -b). Without a terminal the
commands are read from standard input; with -b, -x or -e that goes to the ranks.

Several programs in one job: sdm run [flags for all] -n 2 [flags] ./a : -n 3 [flags] ./b,
where the --env flags and --cwd may follow -n.

A starter (mpirun, mpiexec, srun, or --starter NAME) starts its job as without sdm, also behind
env, timeout, nice and time (timeout 100 mpirun -n 4 ./app). Ranks that begin as such a program, or
as perf or bwrap (mpirun -n 4 timeout 100 ./app), are the program that it starts. Where a starter
offers MPIR, as Open MPI's mpirun does up to release 4, all ranks are held in MPI_Init, attached
to, and stand there when the first command begins; the starter handles their input and
output: rank 0 reads --stdin-file FILE, and at a prompt nothing else; with --launcher slot the
command send writes to any rank. Otherwise (Open MPI from release 5 on, MPICH), sdm-server takes
the place of each rank and starts it under control, and ranks stop at main; with --launcher pmix,
or where its line has no place for sdm-server (--app FILE), Open MPI from release 5 on holds its
ranks in MPI_Init.
flux run holds its ranks at their first instruction, from where they run to --stop-at; its options
decide all that they get.
A script that calls a starter with MPIR is named by --starter SCRIPT; for another starter put
sdm run -- in front of it in the script.

`

const usageAttach = `sdm attach [flags] PID
sdm attach [flags] slurm:JOBID[.STEP]
sdm attach [flags] flux:JOBID
sdm attach [flags] pbs:JOBID[:APID] | pals:APID
sdm attach [flags] torchrun:ID|torchrun:ADDRESS:PORT
sdm attach [flags] [--hosts HOST,HOST...|@FILE] nccl:[HOST[:PORT]][@PID]
sdm attach [flags] pmix:NAMESPACE | pmix:PID | pmix:FILE
sdm attach [flags] pids:PID,PID...
sdm attach [flags] hostfile:FILE
sdm attach [flags] --start-tool CMD job:ID
sdm attach [flags] [--hosts HOST,HOST...|@FILE] --match 'PROGRAM ARG...'

Takes control of a job that runs: stops its ranks where they are, executes the commands
of -x and -e, then asks for more at a prompt (unless -b). At the end the job runs on.

PID is the starter (mpirun), or a script that has called it; any other process is a job of
one rank. Of a job of Slurm those ranks are taken that srun has started, or else mpirun in it.
pids: lists processes of this host, rank 0 first. FILE has lines RANK HOST PID. With job:ID
--start-tool CMD is called, with ID for {jobid}; it must offer MPIR, which tells where the
ranks are. Of a rank that is a shell, the MPI program that it has started is attached to.
pmix: asks the PMIx server of the job, which is named by the namespace of the job, by the
process of the starter, of the server or of any rank, or by a file with the server's address.
A job of torchrun is named by its --rdzv_id, by the address of its master, or by the PID of one of
its agents; --hosts names its other hosts. A starter that sdm does not know numbers its processes
in variables that --rank-from names.
nccl: asks NCCL itself, release 2.24 and later, for the processes of a job, whoever has started it: its
service RAS listens on port 28028 of each host of the job, or where NCCL_RAS_ADDR says. Of several jobs
the one of process PID is meant. Ranks on other hosts are found if --hosts names these. Ranks run on, as
with --lazy: NCCL gives up processes that stand for a minute.
--match takes your processes on --hosts whose program is PROGRAM and whose arguments have the ARGs in
this order, whatever is between them. Words are without directories, or as they were typed; * ? [...]
are patterns; python is also python3.11. Ranks are in the order of host name and process id. A shell
or a starter with such a line among its arguments does not match, nor does sdm itself.

With --when-started a job that is in the queue of Slurm, Flux or PBS is waited for, and its ranks are
taken as soon as they run; Ctrl-C leaves the job alone.

With --lazy the ranks run on, watched: stacks reads them without gdb, and the first other command
attaches gdb to the ranks that it is about, and to no others.

Servers on other hosts are started by the starter, where it has an attach FIFO (Open MPI) or a PMIx
server (Open MPI from release 5 on), by srun for jobs of Slurm, by flux exec for those of Flux, by
palscmd for those of PALS, by --start-tool, or by ssh. Hosts of an mpiexec of MPICH, or of an mpirun
whose PMIx server cannot be asked, are asked for their ranks the same way.

`

const usageStacks = `sdm stacks [flags] PID | slurm:JOBID[.STEP] | flux:JOBID | pbs:JOBID | pmix:NAMESPACE | torchrun:ID | nccl:HOST | pids:PID,PID... | hostfile:FILE | job:ID | --match 'PROGRAM ARG...'

Finds the ranks of a job that runs, as sdm attach does, and writes the stacks of all their
threads as one tree. No gdb is needed: each process is stopped for about a millisecond, in
which its stacks are copied. With --samples it takes several samples, and shows which ranks
have not moved. Ctrl-C ends them and shows what they have shown so far. In front of
the tree it says who waits for whom in MPI or torch.distributed (docs/hangs.md): "so far" is what is so
at one instant, "certain" what several samples agree on. Helper threads of MPI, OpenMP and other runtimes, in which nothing of the
program is found, are one line; --all-threads shows them. --children adds the processes that ranks
have started, such as workers of a pool. A stack that could not be followed
begins with (cut: and the reason). System calls that must not be restarted, such as
epoll_wait, return EINTR, as they do when a debugger attaches.

  sdm stacks 4711                                    4711 is the process of mpirun
  sdm stacks --samples 10 --every 1s 4711            who hangs?
  sdm stacks --folded 4711 | flamegraph.pl > job.svg
  sdm stacks --hosts n1,n2 --match 'python train.py'  no starter: your processes on two hosts

`

const usageWaits = `sdm waits [flags] PID | slurm:JOBID[.STEP] | flux:JOBID | pbs:JOBID | pmix:NAMESPACE | torchrun:ID | nccl:HOST | pids:PID,PID... | hostfile:FILE | job:ID

Finds the ranks of a job that runs, as sdm stacks does, and tells why they do not go on: who
waits for whom in MPI or torch.distributed, for whom all wait in the end, and what that one does. Then there is a
line for each call in which ranks are, and for what the others do. No gdb is needed, no
debug information of MPI and no preparation. docs/hangs.md tells the rules.

nccl:HOST asks NCCL, while the job runs, who is behind in which communicator (docs/launching.md).

  sdm waits 4711                          4711 is the process of mpirun
  sdm waits --samples 10 --every 1s 4711  the same in ten samples is more certain
  sdm waits nccl:localhost                a training job, by NCCL 2.24 and later
  sdm waits --dot 4711 | dot -Tsvg > waits.svg

`

const usageWhy = `sdm why [flags] PID | slurm:JOBID[.STEP] | pids:PID,PID... | --match 'PROGRAM ARG...' | ... (what sdm attach takes)
sdm why [flags] FILE
sdm why [flags] ID

One page, at most 8 KiB, about a job that hangs or has crashed, for people and for programs that ask a shell: the
verdict of sdm waits, the stacks of all ranks and of those that are not as most are, which ranks have ended and how,
values (of a hang file; of a session's odd ranks that stand), the last output, and what to try next. What is cut says
how to get it. A job is looked at as by sdm waits: its ranks run on, and no gdb is needed. FILE is a hang file; ID is a
session (sdm sessions), which is joined and left again.

  sdm why 4711                            4711 is the process of mpirun
  sdm why sdm-hang-4711                   a file that sdm watch has written
  sdm why sdm-1                           a session

`

const usageWatch = `sdm watch [flags] -- STARTER [ARG...]
sdm watch [flags] PID | slurm:JOBID[.STEP] | flux:JOBID | pbs:JOBID | pmix:NAMESPACE | torchrun:ID | nccl:HOST | pids:PID,PID... | hostfile:FILE | --match 'PROGRAM ARG...'

For batch scripts: starts the line as the shell would, or finds a job that runs, and takes a sample
of the ranks now and then. If none of them makes progress for --stall, or one crashes, calls
MPI_Abort or is ended by MPI's own error handler, it writes what all ranks do and why they do not go
on into a file (sdm open FILE) and a page for a browser, and says so on standard error. Nothing else
is changed: input, output, signals and exit status are those of the starter, no debugger is
attached, and if sdm is killed, the job goes on.

With --on-stall kill all that the line has started on this host is ended, and nothing else; it says
that nothing is left. --quiet-for treats silence of the output as a stall.

Progress is: stacks or registers of the program that were not so before, messages that MPI counts,
bytes that were read or written, output in a file, the end of a rank; or, with --progress, the
value of a variable and nothing else (docs/watching.md).

  sdm watch -- mpirun -n 64 ./app                         in place of mpirun -n 64 ./app
  sdm watch --stall 10m --on-stall kill -- srun ./app     end the job at a stall, with status 5
  sdm watch --quiet-for 5m --on-stall kill -- ./tests.sh  in a CI job: any command (docs/ci.md)
  sdm watch --progress step --also 'print residual' 4711  4711 is the process of mpirun
  sdm watch --exec 'mail -s "$SDM_HANG_TEXT" me < "$SDM_HANG_FILE"' -- mpiexec ./app

`

const statusOfWatch = `
Each flag can be set in the environment: --stall is SDM_STALL. A flag on the command line takes
precedence.

Exit status: that of the starter (of a running job the highest of the ranks, where the kernel tells
it, else 0); 1 a rank crashed; 5 (--stall-status) the job has stalled and was ended; 2 wrong usage; 3 the starter
could not be started, or no rank be found.
`

const usageCore = `sdm core [flags] PROGRAM CORE...

Opens the core files that PROGRAM has left, one rank each, in the order of the line: rank 0 is
the first. Commands that inspect work (print, stacks, frame, info, diff, ...); those that need a
process are refused. The shell gives files in the order of the alphabet: core.10 before core.2.

Files that systems have packed (.zst, .lz4, .xz, .gz) are unpacked by the programs zstd, lz4 and
xz, .gz without one, into TMPDIR (/var/tmp without it), at most half of what is free there, and
removed at the end. A file that is none, or is damaged, gets a line, and its rank is left out.

  sdm core -b -e stacks -e 'info locals' ./app core.*

That the programs crashed does not count for the exit status: 0 when all files could be opened
(3 otherwise) and the commands made sense.

`

const usageListen = `sdm listen [flags] [HOST:]PORT [-- PROGRAM [ARG...]]

Waits until a master dials in (sdm-master --connect HOST:PORT, in a batch job for example),
then drives it as sdm run does. PORT 0 picks one; without HOST only this host can come in.
Without PROGRAM the ranks run what the servers were given.

`

const usageJoin = `sdm join [flags] [ID]

Joins a session that sdm run or sdm attach has started at a terminal, or with --keep: to come back after leave or a
lost terminal, or beside other consoles. It shows how the ranks stand and what nobody has seen yet. Without ID there
must be one session only; sdm sessions lists them.

Everybody in a session may command its ranks, and all are told. Each has a focus and a history of its own. leave parts
from the session and so does the end of a script; quit ends it for everybody.

`

const usageSim = `sdm sim [flags] -n N

A whole debugger in one process: N simulated ranks under servers with 64 ranks each, all that
sdm run has besides processes. For trying commands, for demonstrations, for authors of front
ends (--connect), at any scale: 1,000,000 ranks need 2 GB. The ranks run one program:
main -> compute -> helper in work.c (the command list shows it). A script makes them differ,
crash, hang, come late, or die with their server.

  sdm sim -n 100000 -b -e 'break helper' -e continue -e 'print x' -e stacks

`

const footer = `
Each flag can be set in the environment: --wait is SDM_WAIT, -n is SDM_NP. A flag on the command
line takes precedence.

Exit status: 0 all ranks ended well, or quit was given; 1 a rank failed, crashed, was lost, or
could not be started or attached to (without a prompt), a command of a script failed for some
rank or makes no sense (quit N gives N), or standard output cannot be written; 2 wrong usage;
3 no rank could be started; 4 the tree could not be built; 124 --timeout is over; 130 interrupted.
`

const usageDoctor = `sdm doctor [flags] [HOST...]

Checks this machine, and by ssh the hosts, and shows what works, what does not, and
what to do. Exit status: 0 all that sdm needs is there; 1 something is bad.

`

const usageDiffFiles = `sdm diff-files [flags] FILE FILE

Tells what has changed between two hang files, of one job at two times or of two runs: the ranks
that have other stacks or calls and those that have the same, where they were (-) and are (+), and
what else differs: verdict, ends of ranks, values, hosts, versions, output. What is
below a function of MPI is not compared, since it differs at any two instants; nor are the times, the
number of the job, its host and its directory.

Exit status: 0 nothing has changed; 1 something has, or standard output cannot be written; 2 wrong
usage, or a file is no hang file.

`

const usageOpen = `sdm open [flags] FILE

Shows a hang file, which sdm watch writes, or sdm stacks and sdm waits (--hang-file -o FILE), on any
machine: the job need not be there. The commands are those of other sessions, as far as the file
has their answers: stacks and waits in all their forms, ranks, info hosts, info file, info output,
focus, group, expand, and what was asked of the ranks when the file was written (info file lists it).

  sdm open FILE -e waits -e 'stacks function'
  sdm open FILE -e 'waits --json' | jq .verdict
  sdm open FILE --html report.html

Exit status: 0, or that of quit N; 1 a command is not in the file or makes no sense, or standard output
cannot be written; 2 wrong usage, or FILE is no hang file; 130 interrupted.

`

const usageSessions = `sdm sessions [flags]

Lists your sessions, also those that were begun on other hosts with the same home directory: the name
of each, its host, the job and its program, the ranks, since when it is there, and who is in. A
session that has ended without a word is told once; one of another host may have ended. Only
sessions of this host are asked for the states of their ranks and for who is in.

With --json each session is one line: {"event":"session","id":"sdm-1","host":"login1",...}

Exit status: 0, also if there is no session; 1 standard output cannot be written; 2 wrong usage.

`

const usageDAP = `sdm dap [flags]

A debug adapter for editors: it speaks the Debug Adapter Protocol with the editor that has
started it. Its threads are groups of ranks that stand in the same place. launch and attach take
program, args, cwd, env and np; starter ("mpirun -n 8"); attach (what sdm attach takes); session (a
session to join); core; hangFile; stopOnEntry, stopAt and flags (further ones of the subcommand).
The debug console takes all commands of the prompt. docs/editors.md tells how editors are set up.

`

const usageMCP = `sdm mcp [flags]

For agents, programs that a language model drives: sdm speaks the Model Context Protocol with the client that has
started it, at standard input and output. Its tools look at jobs, hang files and sessions (sdm_why), begin sessions and
steer them. Sessions go on when the client ends; sdm sessions lists them. docs/agents.md tells more; agents that only
have a shell use sdm why.

  sdm mcp --print-config                  what to write into the settings of clients

`

const usageWeb = `sdm web [flags] [ID | FILE]

Shows a session, or a hang file, as a page: all ranks at a glance, the odd ones first, their stacks, what they wait for,
values over the ranks, output. It joins a session as sdm join does and prints a link, which opens once. The page looks
only, unless --allow steer or change is given. Only programs of your own user reach it. Where sdm runs at the other end
of ssh, it listens at a Unix socket and prints the line of ssh that leads there. docs/web.md tells more.

  sdm web                     the session that runs
  sdm web sdm-hang-1234       a file that sdm watch has left

`
