// The variables by which starters tell a process which rank it is.

package launch

import (
	"net"
	"slices"
	"strconv"
	"strings"
)

// starter describes one starter: the variables with the rank and with the other values. If a list
// has several variables, the first that is set wins.
type starter struct {
	rank                    string
	is                      func(variables) bool // whether it has started the process; nil: rank is set
	size, local, node, host []string
	localSize               []string               // number of ranks on the node
	job                     []string               // name of the job
	jobOf                   func(variables) string // the job, where it is not the value of one variable
	localSizeOf             func(variables) int    // localSize, where it is not the value of one variable
}

// variables maps the names of an environment to their values.
type variables map[string]string

// starters are in order of preference. A starter that was called by another one comes first: its
// processes have the variables of both. Those of torchrun and Horovod have all variables of the
// agent that has started them. A resource manager (Flux, Slurm, PALS) counts only if nothing says
// that another starter was called below it. Tested with torchrun 1.13, Open MPI 4.1 to 6, MPICH 4.0
// and Slurm 22.05; the others are as their documentation and source have them. The last four
// entries are from the original SDM.
var starters = []starter{
	torchrun,
	horovod,
	{rank: "OMPI_COMM_WORLD_RANK", size: []string{"OMPI_COMM_WORLD_SIZE"}, local: []string{"OMPI_COMM_WORLD_LOCAL_RANK"}, host: []string{"PMIX_HOSTNAME"}, job: []string{"PMIX_NAMESPACE"}, localSize: []string{"OMPI_COMM_WORLD_LOCAL_SIZE"}},
	hydra, // before PMIX_RANK: if srun starts the proxies, ranks inherit their proxy's
	{rank: "PMIX_RANK", is: ofPRRTE, size: []string{"OMPI_COMM_WORLD_SIZE"}, local: []string{"OMPI_COMM_WORLD_LOCAL_RANK"}, host: []string{"PMIX_HOSTNAME"}, job: []string{"PMIX_NAMESPACE"}},
	flux,
	slurm,
	pals,
	{rank: "JSM_NAMESPACE_RANK", size: []string{"JSM_NAMESPACE_SIZE"}, local: []string{"JSM_NAMESPACE_LOCAL_RANK"}, localSize: []string{"JSM_NAMESPACE_LOCAL_SIZE"}, job: []string{"LSB_JOBID"}},
	{rank: "MV2_COMM_WORLD_RANK", size: []string{"MV2_COMM_WORLD_SIZE"}, local: []string{"MV2_COMM_WORLD_LOCAL_RANK"}, localSize: []string{"MV2_COMM_WORLD_LOCAL_SIZE"}},
	{rank: "PMIX_RANK", host: []string{"PMIX_HOSTNAME"}, job: []string{"PMIX_NAMESPACE"}},
	{rank: "PMI_RANK", size: []string{"PMI_SIZE"}, local: []string{"MPI_LOCALRANKID"}, host: []string{"MPIR_CVAR_CH3_INTERFACE_HOSTNAME"}, job: []string{"PMI_JOBID"}, localSize: []string{"MPI_LOCALNRANKS"}},
	{rank: "OMPI_MCA_orte_ess_vpid", size: []string{"OMPI_MCA_orte_ess_num_procs"}},
	{rank: "OMPI_MCA_ns_nds_vpid", size: []string{"OMPI_MCA_ns_nds_num_procs"}},
	{rank: "MP_CHILD", size: []string{"MP_PROCS"}},
	{rank: "PCMP_PTP_RANK"},
}

var (
	torchrun = starter{rank: "RANK", is: set("TORCHELASTIC_RUN_ID"), size: []string{"WORLD_SIZE"}, local: []string{"LOCAL_RANK"}, localSize: []string{"LOCAL_WORLD_SIZE"},
		node: []string{"GROUP_RANK"}, jobOf: torchrunJob}
	horovod = starter{rank: "HOROVOD_RANK", size: []string{"HOROVOD_SIZE"}, local: []string{"HOROVOD_LOCAL_RANK"}, localSize: []string{"HOROVOD_LOCAL_SIZE"}, node: []string{"HOROVOD_CROSS_RANK"},
		jobOf: horovodJob}
	// hydra is MPICH's starter.
	hydra = starter{rank: "PMI_RANK", is: set(hydraMark), size: []string{"PMI_SIZE"}, local: []string{hydraMark}, host: []string{"MPIR_CVAR_CH3_INTERFACE_HOSTNAME"},
		localSize: []string{"MPI_LOCALNRANKS"}}
	flux  = starter{rank: "FLUX_TASK_RANK", is: fluxStarted, size: []string{"FLUX_JOB_SIZE"}, local: []string{"FLUX_TASK_LOCAL_ID"}, job: []string{"FLUX_JOB_ID"}}
	slurm = starter{rank: "SLURM_PROCID", is: srunStarted, size: []string{"SLURM_NTASKS", "SLURM_NPROCS", "PMI_SIZE"}, local: []string{"SLURM_LOCALID"}, node: []string{"SLURM_NODEID"},
		host: []string{"SLURMD_NODENAME", "PMIX_HOSTNAME"}, jobOf: slurmStep, localSizeOf: slurmLocalSize}
	// pals is HPE's launcher of PBS systems. Its variables prove nothing by themselves: Slurm and
	// Flux set them, too.
	pals = starter{rank: "PALS_RANKID", is: palsStarted, size: []string{"PMI_SIZE"}, local: []string{"PALS_LOCAL_RANKID"}, localSize: []string{"PMI_LOCAL_SIZE"},
		node: []string{"PALS_NODEID"}, job: []string{"PALS_APID"}}
)

// managers complete what a starter in their job leaves out.
var managers = []starter{flux, slurm, pals}

// hydraMark is a variable that only MPICH's Hydra sets.
const hydraMark = "MPI_LOCALRANKID"

// started reports whether a starter has started the process.
func (s starter) started(vars variables) bool {
	return vars[s.rank] != "" && (s.is == nil || s.is(vars))
}

// set returns a condition that a variable is not empty.
func set(name string) func(variables) bool {
	return func(vars variables) bool { return vars[name] != "" }
}

// torchrunJob returns ID@ADDRESS:PORT. The ID is "none" for all users who give none; the address is
// where the process with rank 0 listens.
func torchrunJob(vars variables) string {
	return vars["TORCHELASTIC_RUN_ID"] + "@" + net.JoinHostPort(vars["MASTER_ADDR"], vars["MASTER_PORT"])
}

func horovodJob(vars variables) string {
	if vars["HOROVOD_GLOO_RENDEZVOUS_ADDR"] == "" {
		return ""
	}
	return net.JoinHostPort(vars["HOROVOD_GLOO_RENDEZVOUS_ADDR"], vars["HOROVOD_GLOO_RENDEZVOUS_PORT"])
}

// ofPRRTE reports whether a namespace belongs to a job of prterun or prte.
func ofPRRTE(vars variables) bool {
	space := vars["PMIX_NAMESPACE"]
	return strings.HasPrefix(space, "prterun-") || strings.HasPrefix(space, "prte-")
}

// hasInner reports whether variables that an inner starter sets contradict the rank and size that
// a resource manager gives: the task of the manager is then the inner starter, or its helper.
func hasInner(vars variables, number, size string) bool {
	differs := func(name, value string) bool {
		return vars[name] != "" && value != "" && vars[name] != value
	}
	return vars[hydraMark] != "" || vars["MV2_COMM_WORLD_RANK"] != "" || vars["JSM_NAMESPACE_RANK"] != "" || ofPRRTE(vars) ||
		differs("PMI_RANK", number) || differs("PMIX_RANK", number) || differs("OMPI_COMM_WORLD_RANK", number) ||
		differs("PMI_SIZE", size) || differs("OMPI_COMM_WORLD_SIZE", size)
}

func fluxStarted(vars variables) bool {
	return !hasInner(vars, vars["FLUX_TASK_RANK"], vars["FLUX_JOB_SIZE"])
}

// srunStarted reports whether srun itself has started the process. Below an mpirun in an allocation
// the variables of srun exist too, but describe mpirun, and one of the ranks may have its number.
// Below srun either a plugin for MPI has set the name of the step, in one of three variables, or no
// plugin has set anything. The plugin of HPE Cray EX sets PALS_APID only.
func srunStarted(vars variables) bool {
	if hasInner(vars, vars["SLURM_PROCID"], vars["SLURM_NTASKS"]) {
		return false
	}
	step := vars["SLURM_JOB_ID"] + "." + vars["SLURM_STEP_ID"]
	return vars["PMIX_NAMESPACE"] == slurmPMIx+step || vars["PMI_JOBID"] == step || vars["PALS_APID"] == step ||
		vars["PMIX_NAMESPACE"] == "" && vars["PMI_JOBID"] == "" && vars["PMI_FD"] == ""
}

func palsStarted(vars variables) bool {
	return vars["PALS_APID"] != "" && !hasInner(vars, vars["PALS_RANKID"], "")
}

// slurmStep returns JOB.STEP; "" outside of a step.
func slurmStep(vars variables) string {
	if vars["SLURM_JOB_ID"] == "" || vars["SLURM_STEP_ID"] == "" {
		return ""
	}
	return vars["SLURM_JOB_ID"] + "." + vars["SLURM_STEP_ID"]
}

// slurmLocalSize returns the number of ranks of the step on this node (srun(1), SLURM_GTIDS; or the
// plugin of HPE Cray EX). In a heterogeneous job both cover only one component, so the result is
// Unknown.
func slurmLocalSize(vars variables) int {
	if vars["SLURM_HET_SIZE"] != "" {
		return Unknown
	}
	if n, err := strconv.Atoi(vars["PMI_LOCAL_SIZE"]); err == nil && n > 0 {
		return n
	}
	if vars["SLURM_GTIDS"] == "" {
		return Unknown
	}
	return strings.Count(vars["SLURM_GTIDS"], ",") + 1
}

// RankVariables returns the variables that make a process a rank, for HasName: the variables of the
// table, and all others that its starters set for the libraries of a rank. The slice is new.
func RankVariables() []string {
	all := []string{
		"PMI_", "PMIX_", "PMI2_", "OMPI_", "ORTE_", "PRTE_", "MPIR_",
		"TORCHELASTIC_", "HOROVOD_", "FLUX_", "PALS_", "JSM_", "MV2_COMM_WORLD_",
		"GROUP_WORLD_SIZE", "ROLE_RANK", "ROLE_NAME", "ROLE_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
	}
	for _, s := range starters {
		for _, names := range [][]string{{s.rank}, s.size, s.local, s.localSize, s.node} {
			for _, name := range names {
				if !strings.HasPrefix(name, "SLURM") && !HasName(all, name) {
					all = append(all, name)
				}
			}
		}
	}
	return append(all, slurm.rank) // the others of Slurm describe the job to which gdb's host belongs, too
}

// HasName reports whether a variable is in a list, in which names that end with an underscore are
// prefixes.
func HasName(list []string, name string) bool {
	return slices.ContainsFunc(list, func(one string) bool {
		return name == one || strings.HasSuffix(one, "_") && strings.HasPrefix(name, one)
	})
}
