// Package launch provides what is needed to start the ranks of a job or to find those of a running
// one: what a starter tells a process about itself, the processes of jobs, and the environment
// that ranks get.
package launch

import (
	"fmt"
	"strconv"
	"strings"
)

// Unknown stands for a number that the starter did not give.
const Unknown = -1

// Identity is what the environment of a process says about its place in the job that it was
// started with. The zero value does not mean unknown: use Identify.
type Identity struct {
	Number int // rank in the job, Unknown if no starter is recognised
	Size   int // number of ranks of the job
	Local  int // rank among those of the same node
	Node   int // index of the node
	// LocalSize is how many ranks of the job are on the same node.
	LocalSize int
	Host      string // the starter's name of this node, "" if it does not say
	Job       string // the starter's name of the job, "" if it does not say
	Source    string // the variable that gave Number, for users
	// Within is the Slurm job in which a starter other than srun has started the process: mpirun
	// in an allocation. "" for all other processes.
	Within string
}

// known describes one starter: the variable of the rank, and those of the other values. If a list
// has several variables, the first that is set wins.
type known struct {
	rank                         string
	mark                         string // a variable that only this starter sets; "": not needed
	size, local, node, host, job []string
	locals                       []string // number of ranks on the node
}

// starters are in order of preference: a process of Open MPI under srun has the variables of both,
// and those of the inner starter count. Tested with Open MPI 4.1.4, MPICH 4.0.2 and Slurm 22.05.
// The last four entries are those of the original SDM.
var starters = []known{
	{"OMPI_COMM_WORLD_RANK", "", []string{"OMPI_COMM_WORLD_SIZE"}, []string{"OMPI_COMM_WORLD_LOCAL_RANK"}, nil, []string{"PMIX_HOSTNAME"}, []string{"PMIX_NAMESPACE"}, []string{"OMPI_COMM_WORLD_LOCAL_SIZE"}},
	hydra, // before PMIX: if srun starts the proxies, ranks inherit the PMIX_RANK of their proxy
	{"PMIX_RANK", "", nil, nil, nil, []string{"PMIX_HOSTNAME"}, []string{"PMIX_NAMESPACE"}, nil},
	{"PMI_RANK", "", []string{"PMI_SIZE"}, []string{"MPI_LOCALRANKID"}, nil, []string{"MPIR_CVAR_CH3_INTERFACE_HOSTNAME"}, []string{"PMI_JOBID"}, []string{"MPI_LOCALNRANKS"}},
	slurm,
	{"OMPI_MCA_orte_ess_vpid", "", []string{"OMPI_MCA_orte_ess_num_procs"}, nil, nil, nil, nil, nil},
	{"OMPI_MCA_ns_nds_vpid", "", []string{"OMPI_MCA_ns_nds_num_procs"}, nil, nil, nil, nil, nil},
	{"MP_CHILD", "", []string{"MP_PROCS"}, nil, nil, nil, nil, nil},
	{"PCMP_PTP_RANK", "", nil, nil, nil, nil, nil, nil},
}

// hydra is MPICH's starter. slurm also completes what an inner starter leaves out.
var (
	hydra = known{"PMI_RANK", "MPI_LOCALRANKID", []string{"PMI_SIZE"}, []string{"MPI_LOCALRANKID"}, nil, []string{"MPIR_CVAR_CH3_INTERFACE_HOSTNAME"}, nil, []string{"MPI_LOCALNRANKS"}}
	slurm = known{"SLURM_PROCID", "", []string{"SLURM_NTASKS", "SLURM_NPROCS"}, []string{"SLURM_LOCALID"}, []string{"SLURM_NODEID"}, []string{"SLURMD_NODENAME"}, nil, nil}
)

// Identify reads an environment (NAME=VALUE). Without a known starter all numbers are Unknown and
// Source is empty. An invalid number is an error: with another variable in its place, two
// processes could get one number.
func Identify(env []string) (Identity, error) {
	vars := lookup(env)
	id := Identity{Number: Unknown, Size: Unknown, Local: Unknown, Node: Unknown, LocalSize: Unknown}
	for _, s := range starters {
		if vars[s.rank] == "" || s.mark != "" && vars[s.mark] == "" {
			continue
		}
		err := id.fill(vars, s)
		switch {
		case err != nil:
		case srunStarted(vars, id.Number):
			err = id.fill(vars, slurm)
		case s.rank != slurm.rank && (s.mark != "" || !strings.HasPrefix(id.Job, slurmPMIx)):
			id.Within = vars["SLURM_JOB_ID"]
		}
		if err == nil && id.Size != Unknown && id.Number >= id.Size {
			err = fmt.Errorf("%s is %d, but the size of the job is %d", id.Source, id.Number, id.Size)
		}
		return id, err
	}
	return id, nil
}

// srunStarted reports whether srun itself started this process. Below an mpirun in an allocation
// the variables of srun exist too, but describe mpirun: then the step has another task count, and
// only one of the ranks has its number.
func srunStarted(vars map[string]string, number int) bool {
	if vars["SLURM_PROCID"] != strconv.Itoa(number) || vars[hydra.mark] != "" {
		return false
	}
	step := vars["SLURM_JOB_ID"] + "." + vars["SLURM_STEP_ID"]
	return vars["PMIX_NAMESPACE"] == "slurm.pmix."+step || vars["PMI_JOBID"] == step ||
		vars["PMIX_NAMESPACE"] == "" && vars["PMI_JOBID"] == "" && vars["PMI_FD"] == ""
}

// fill takes the values that are still unknown from the variables of one starter.
func (id *Identity) fill(vars map[string]string, s known) error {
	numbers := []struct {
		into  *int
		names []string
	}{{&id.Number, []string{s.rank}}, {&id.Size, s.size}, {&id.Local, s.local}, {&id.Node, s.node}, {&id.LocalSize, s.locals}}
	for _, n := range numbers {
		if *n.into != Unknown {
			continue
		}
		name, value := first(vars, n.names)
		if value == "" {
			continue
		}
		number, err := strconv.Atoi(value)
		if err != nil || number < 0 {
			return fmt.Errorf("%s=%q is not a number of a process", name, value)
		}
		*n.into = number
	}
	if id.Source == "" {
		id.Source = s.rank
	}
	if id.LocalSize == Unknown && s.rank == slurm.rank {
		id.LocalSize = slurmLocalSize(vars)
	}
	if id.Host == "" {
		_, id.Host = first(vars, s.host)
	}
	if id.Job == "" {
		_, id.Job = first(vars, s.job)
	}
	if id.Job == "" && s.rank == slurm.rank && vars["SLURM_JOB_ID"] != "" && vars["SLURM_STEP_ID"] != "" {
		id.Job = vars["SLURM_JOB_ID"] + "." + vars["SLURM_STEP_ID"]
	}
	return nil
}

// slurmLocalSize returns the number of ranks of the step on this node (srun(1), SLURM_GTIDS). In a
// heterogeneous job the variable covers only one component, so the result is Unknown.
func slurmLocalSize(vars map[string]string) int {
	if vars["SLURM_GTIDS"] == "" || vars["SLURM_HET_SIZE"] != "" {
		return Unknown
	}
	return strings.Count(vars["SLURM_GTIDS"], ",") + 1
}

func first(vars map[string]string, names []string) (name, value string) {
	for _, n := range names {
		if vars[n] != "" {
			return n, vars[n]
		}
	}
	return "", ""
}

func lookup(env []string) map[string]string {
	vars := make(map[string]string, len(env))
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if _, have := vars[name]; !have { // as in getenv(3), the first one counts
			vars[name] = value
		}
	}
	return vars
}
