// The rows of docs/tested.md and the tests of each.

package main

import "regexp"

// row is something that users do, and the tests of it.
type row struct {
	what  string         // in Markdown
	tests *regexp.Regexp // matches values of test.name
}

// rows are the rows of the table, in the order in which a user comes to them.
var rows = []row{
	{"`run` a program, breakpoints, stepping, values", tests(`cmd/sdm TestSessions/.*/(breakpoints|values|places|running|points|end)$`)},
	{"`run -- mpirun`: Open MPI", tests(`cmd/internal/check/e2e Test(MPI|LaunchBringsTheProgram|RunOfAStarter|OutputOfTheStarter|PartialRunOfSlots)/Open_MPI`, `cmd/internal/check/e2e TestRunHoldsAndReleases$`)},
	{"`run -- mpiexec`: MPICH", tests(`cmd/internal/check/e2e Test(MPI|LaunchBringsTheProgram|RunOfAStarter|OutputOfTheStarter|PartialRunOfSlots)/MPICH`, `cmd/internal/check/e2e TestRunOfAStarterWithoutMPIR$`)},
	{"`run` by srun, in allocations and batch scripts", tests(`cmd/internal/check/e2e TestSlurm/(in_an_alloc|srun|batch|staged|MPICH|a_job)`)},
	{"`attach PID` of mpirun or mpiexec", tests(`cmd/internal/check/e2e Test(AttachToAStarter|AttachBelowAScript|AttachWithoutMPIR)(/|$)`)},
	{"`attach pids:`, processes of no job", tests(`cmd/internal/check/e2e TestAttachToProcesses`, `backend/gdb TestAttachTo`)},
	{"`attach slurm:ID`", tests(`cmd/internal/check/e2e TestSlurmAttach/attach_by_the_(job|number)`)},
	{"Flux: run, attach (a stand-in)", tests(`cmd/internal/check/e2e TestFlux`, `launch/flux Test`)},
	{"PALS under PBS: run, attach (stand-ins)", tests(`cmd/internal/check/e2e TestPALS`, `launch/pals Test`)},
	{"torchrun: run, attach (a stand-in)", tests(`cmd/internal/check/e2e TestTorchrun`, `launch TestTorchrun`)},
	{"`stacks`", tests(`cmd/sdm TestSessions/.*/stacks$`, `backend/gdb TestStack`)},
	{"`stacks` of Python", tests(`cmd/internal/check/e2e Test(PythonStacks/python3|MPI4Py/this_machine)`, `backend/probe/internal/sampler TestBusyPython`)},
	{"`stacks --engine probe`, without gdb", tests(`backend/probe/internal/sampler Test`, `cmd/internal/check/e2e TestStacksWithoutGDB`)},
	{"`waits`: who waits for whom", tests(`cmd/internal/check/e2e Test(Waits|Hangs|JobsThatGoOn|OtherNumbers)`)},
	{"`watch`: jobs that stall", tests(`cmd/internal/check/e2e TestWatch`)},
	{"`core`", tests(`cmd/sdm TestSessions/.*/core$`, `backend/gdb TestCore`)},
	{"`run --reverse`", tests(`cmd/sdm TestSessions/.*/reverse$`, `backend/gdb Test(Backwards|LogBackwards|RecordEnds|InterruptRecorded)`)},
	{"several hosts: run, attach, staging", tests(`cmd/internal/check/e2e Test(StartersOnSeveralHosts|RunOnFourHosts|AttachOnFourHosts|AttachToMPICHOnHosts|Staging|ServersBesideARunningJob|StarterExecsUs|StarterArgs)(/|$)`)},
	{"`run --launcher pmix`: PRRTE starts ranks", tests(`cmd/internal/check/e2e TestPMIx(Run|Exit|Refusals|Quit|Log)`)},
	{"`run --launcher pmix -- mpirun`: PRRTE holds ranks", tests(`cmd/internal/check/e2e TestPMIxStarter`)},
	{"`attach pmix:NAME`", tests(`cmd/internal/check/e2e TestPMIxAttach`)},
	{"all tests of PMIx servers", tests(`cmd/internal/check/e2e TestPMIx[A-Z]`)},
	{"`--env` flags, PRRTE", tests(`cmd/internal/check/e2e TestDirectivesOfAllLaunchers/PRRTE`)},
	{"`--env` flags, other launchers", tests(`cmd/internal/check/e2e Test(DirectivesOfAllLaunchers/(local|Open_MPI|MPICH)|EnvironmentIsChangedInOrder/|EnvironmentReachesTheRanksAlone/|Slurm/directives)`)},
	{"several programs in a job (MPMD)", tests(`cmd/internal/check/e2e Test(RunOfAStarterWithSeveralPrograms|RanksThatEndBeforeMain)(/|$)`)},
	{"standard input", tests(`cmd/sdm TestSessions/.*/stdin$`, `cmd/internal/check/e2e TestStarterUnderControlBehaves`, `launch/local TestStdin`)},
	{"exit codes", tests(`cmd/internal/check/e2e Test(StatusOfTheRanksReachesTheStarter|StarterThatFails)(/|$)`, `cmd/sdm TestSessions/.*/status$`)},
	{"MPI_Abort", tests(`cmd/internal/check/e2e TestAbort`)},
	{"Ctrl-C, detach, quit", tests(`cmd/internal/check/e2e Test(CtrlC|QuitEndsAHeldJob|Detached|Terminal)`)},
	{"a server, gdb or sdm is killed", tests(`cmd/internal/check/e2e Test(Killed|Hung|Frozen|HeldJobAfterAKill)`)},
	{"Eclipse PTP", tests(`cmd/internal/check/e2e TestEclipse`)},
	{"conformance of the gdb engine", tests(`backend/gdb TestConformance/`)},
	{"random sessions, compared with plain gdb", tests(`cmd/internal/check/oracle TestSessions$`)},
}

// tests returns an expression that matches the beginnings of names.
func tests(patterns ...string) *regexp.Regexp {
	all := ""
	for i, p := range patterns {
		if i > 0 {
			all += "|"
		}
		all += p
	}
	return regexp.MustCompile("^(" + all + ")")
}
